#if Personas
import IssuerProtocol
import Keys
package import Records

/// What is sent as the approval of a `test` enrollment in the place of an honest assertion.
package protocol TestAnswer: Sendable {
    /// The body of the decision.
    ///
    /// - Throws: `CustodyError` if the key does not sign.
    func body(of approval: TestApproval) async throws -> [UInt8]
}

/// What a persona has to make an assertion of: the core's for `test` enrollments alone.
package struct TestApproval: Sendable {
    package let request: RequestRecord
    package let presented: PresentedRequest
    package let enrollment: Enrollment
    /// The number that this assertion has taken.
    package let signCount: UInt32
    package let key: any UnlockedKey

    /// Nil unless it is a `test` enrollment, with a key of the agent's own, and the request was presented.
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
    /// Whether a persona may answer for it: a key that the agent did not make may be another enrollment's too.
    package var isPlayable: Bool { authnType == .test && key.external == nil && !isDamaged }
}
#endif
