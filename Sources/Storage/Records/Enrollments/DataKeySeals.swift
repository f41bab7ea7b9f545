package import Keys

/// Seals the data keys of enrollments, so that a reader of the store alone cannot use them.
package protocol DataKeySeals: Sendable {
    func seal(_ key: DataKey, of id: EnrollmentID) throws -> [UInt8]
    /// - Throws: an error if ``seal(_:of:)`` did not return it for the same enrollment.
    func open(_ sealed: [UInt8], of id: EnrollmentID) throws -> DataKey
}

/// The data key of an enrollment as stored.
package struct SealedDataKey: Sendable, Equatable {
    package let enrollmentId: EnrollmentID
    package let sealed: [UInt8]

    package init(enrollmentId: EnrollmentID, sealed: [UInt8]) {
        self.enrollmentId = enrollmentId
        self.sealed = sealed
    }
}
