extension Enrollment {
    /// The reference to the enrollment's key, as of this read of the row.
    package var keyReference: KeyReference {
        KeyReference(of: id, at: key, registered: credentialKey, sealed: sealedKey)
    }
}
