package import Keys

/// Who seals the data keys of enrollments for a store that keeps them: whoever reads the store alone reads no more than that.
package protocol DataKeySeals: Sendable {
    func seal(_ key: DataKey, of id: EnrollmentID) throws -> [UInt8]
    /// - Throws: if ``seal(_:of:)`` did not give it for the same enrollment.
    func open(_ sealed: [UInt8], of id: EnrollmentID) throws -> DataKey
}

/// The data key of an enrollment as a store keeps it.
package struct SealedDataKey: Sendable, Equatable {
    package let enrollmentId: EnrollmentID
    package let sealed: [UInt8]

    package init(enrollmentId: EnrollmentID, sealed: [UInt8]) {
        self.enrollmentId = enrollmentId
        self.sealed = sealed
    }
}
