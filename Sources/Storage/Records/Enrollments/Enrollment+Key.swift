extension Enrollment {
    /// Its key, as this look at its row has it.
    package var keyReference: KeyReference {
        KeyReference(of: id, at: key, registered: credentialKey, sealed: sealedKey)
    }
}
