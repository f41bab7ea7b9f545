package import Keys
package import Records

/// Keeps data keys as they are, for stores of tests that have no secret.
package struct UnsealedDataKeys: DataKeySeals {
    package init() {}

    package func seal(_ key: DataKey, of id: EnrollmentID) -> [UInt8] {
        unsafe key.secret.withBytes { unsafe Array($0) }
    }

    package func open(_ sealed: [UInt8], of id: EnrollmentID) throws -> DataKey {
        guard let key = DataKey(Secret(sealed)) else { throw SealError.malformed }
        return key
    }
}
