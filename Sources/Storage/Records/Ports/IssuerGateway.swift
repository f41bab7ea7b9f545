package import IssuerProtocol

/// The calls of the issuer protocol.
///
/// A call is never repeated here. The caller decides about that.
package protocol IssuerGateway: Sendable {
    /// Returns the fault of an issuer's roots in PEM as a sentence, or `nil` if they can be used.
    nonisolated func problem(withRoots pem: String) -> String?
    func discovery(_ target: IssuerTarget) async throws(IssuerError) -> Discovery
    func keys(_ target: IssuerTarget, _ discovery: Discovery) async throws(IssuerError) -> JWKSet
    func enrollmentOptions(
        _ target: IssuerTarget, _ discovery: Discovery, code: EnrollmentCode
    ) async throws(IssuerError) -> EnrollmentOptionsAnswer
    /// Sends the bytes of an enrollment unchanged.
    func enroll(
        _ target: IssuerTarget, _ discovery: Discovery, body: [UInt8]
    ) async throws(IssuerError) -> EnrollmentAnswer
    /// Fetches the requests after `cursor`, and waits for them up to `wait` seconds.
    func fetch(_ access: IssuerAccess, wait: Int, after cursor: String?) async throws(IssuerError) -> RequestList
    /// Fetches for many authenticators of one issuer, which must have an endpoint for that.
    func batchFetch(
        _ target: IssuerTarget, _ discovery: Discovery, request: BatchFetchRequest
    ) async throws(IssuerError) -> BatchFetchAnswer
    /// Sends the bytes of a decision unchanged.
    func decide(
        _ access: IssuerAccess, jti: TokenID, body: [UInt8], traceparent: String?
    ) async throws(IssuerError) -> TransStatus
    /// Fetches the greatest signCount that the issuer accepted.
    func status(_ access: IssuerAccess) async throws(IssuerError) -> AuthenticatorStatus
    func unenroll(_ access: IssuerAccess) async throws(IssuerError)
    /// Replaces the push subscription that the issuer may have.
    func subscribe(_ access: IssuerAccess, _ subscription: PushSubscription) async throws(IssuerError)
    /// Deletes the push subscription; a missing one is not an error.
    func unsubscribe(_ access: IssuerAccess) async throws(IssuerError)
}

/// The parameters of an authenticated call.
package struct IssuerAccess: Sendable {
    package let target: IssuerTarget
    package let discovery: Discovery
    package let token: AccessToken

    package init(target: IssuerTarget, discovery: Discovery, token: AccessToken) {
        self.target = target
        self.discovery = discovery
        self.token = token
    }
}

/// The reason why a call to an issuer returned no usable answer.
package enum IssuerError: Error, Sendable {
    /// A problem from the issuer with a code that the protocol lists; it ends the operation.
    case problem(Problem)
    /// Any other failure, such as no connection, a proxy's page, a redirect, garbage or 5xx.
    ///
    /// The call may be repeated, but not before `retryAfter` seconds if the server asked for that.
    case transient(reason: String, retryAfter: Int64?)

    /// A sentence for logs and people, without body and token.
    package var reason: String {
        switch self {
        case .problem(let problem): problem.code.map { "the issuer answered \($0.rawValue)" } ?? "the issuer refused"
        case .transient(let reason, _): reason
        }
    }
    /// The wait before the next try, in seconds.
    package var retryAfter: Int64? {
        if case .transient(_, let retryAfter) = self { retryAfter } else { nil }
    }
}
