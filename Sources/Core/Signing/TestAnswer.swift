#if Personas
import IssuerProtocol
import Keys
package import Records

/// A substitute for the honest assertion in the approval of a `test` enrollment.
package protocol TestAnswer: Sendable {
    /// Returns the body of the decision.
    ///
    /// - Throws: `CustodyError` if the key does not sign.
    func body(of approval: TestApproval) async throws -> [UInt8]
}

/// The material of a persona's assertion, which the core makes only for `test` enrollments.
package struct TestApproval: Sendable {
    package let request: RequestRecord
    package let presented: PresentedRequest
    package let enrollment: Enrollment
    /// The signCount that is assigned to this assertion.
    package let signCount: UInt32
    package let key: any UnlockedKey

    /// Fails unless the request was presented, to a `test` enrollment with a key that the agent made.
    package init?(_ request: RequestRecord, of enrollment: Enrollment, signCount: UInt32, with key: any UnlockedKey) {
        guard enrollment.isPlayable, request.enrollmentId == enrollment.id, let presented = request.presented
        else { return nil }
        self.request = request
        self.presented = presented
        self.enrollment = enrollment
        self.signCount = signCount
        self.key = key
    }
}

extension Enrollment {
    /// Whether a persona may answer for the enrollment.
    ///
    /// A key that the agent did not make may also be another enrollment's.
    package var isPlayable: Bool { authnType == .test && key.external == nil && !isDamaged }
}
#endif
