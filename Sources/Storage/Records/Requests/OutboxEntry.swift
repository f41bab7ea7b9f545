package import IssuerProtocol

/// A decision on its way to the issuer: bytes that never change until it has answered.
package struct OutboxEntry: Sendable {
    package let enrollmentId: EnrollmentID
    package let jti: TokenID
    /// The request whose delivery this is; nil if only a message is answered (a duplicate).
    package let requestId: RequestID?
    /// The signCount of an approval; nil for a deny.
    package let signCount: UInt32?
    /// Nil if it is not in the database as the agent wrote it: then nothing is sent.
    package let body: [UInt8]?
    /// Nothing is sent from this second on.
    package let exp: Int64
    package let traceparent: String?
    /// Why the last try that the store knows of brought no answer; nil if there was none.
    package let lastError: String?

    package init(
        enrollmentId: EnrollmentID, jti: TokenID, requestId: RequestID?, signCount: UInt32?, body: [UInt8]?,
        exp: Int64, traceparent: String?, lastError: String? = nil
    ) {
        self.enrollmentId = enrollmentId
        self.jti = jti
        self.requestId = requestId
        self.signCount = signCount
        self.body = body
        self.exp = exp
        self.traceparent = traceparent
        self.lastError = lastError
    }
}

/// The two queues of an enrollment's outbox.
///
/// Approvals of a credential go one at a time, in the order of their signCounts. Denials have a queue of their own, so
/// that approvals do not hold them up.
package enum OutboxQueue: Sendable, Hashable, CaseIterable {
    case approvals
    case denials
}
