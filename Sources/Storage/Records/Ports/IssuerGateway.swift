package import IssuerProtocol

/// The calls of the issuer protocol.
///
/// Nothing is repeated here; whoever calls decides about that.
package protocol IssuerGateway: Sendable {
    /// What is wrong with the PEM of an issuer's roots, as a sentence; nil: a route can be used with it.
    nonisolated func problem(withRoots pem: String) -> String?
    func discovery(_ target: IssuerTarget) async throws(IssuerError) -> Discovery
    func keys(_ target: IssuerTarget, _ discovery: Discovery) async throws(IssuerError) -> JWKSet
    func enrollmentOptions(
        _ target: IssuerTarget, _ discovery: Discovery, code: EnrollmentCode
    ) async throws(IssuerError) -> EnrollmentOptionsAnswer
    /// Sends the bytes of an enrollment as they are.
    func enroll(
        _ target: IssuerTarget, _ discovery: Discovery, body: [UInt8]
    ) async throws(IssuerError) -> EnrollmentAnswer
    /// Fetches requests: what came after `cursor`, waiting for it up to `wait` seconds.
    func fetch(_ access: IssuerAccess, wait: Int, after cursor: String?) async throws(IssuerError) -> RequestList
    /// Fetches for many authenticators of one issuer, which must have an endpoint for that.
    func batchFetch(
        _ target: IssuerTarget, _ discovery: Discovery, request: BatchFetchRequest
    ) async throws(IssuerError) -> BatchFetchAnswer
    /// Sends the bytes of a decision as they are.
    func decide(
        _ access: IssuerAccess, jti: TokenID, body: [UInt8], traceparent: String?
    ) async throws(IssuerError) -> TransStatus
    /// The greatest signCount that the issuer accepted.
    func status(_ access: IssuerAccess) async throws(IssuerError) -> AuthenticatorStatus
    func unenroll(_ access: IssuerAccess) async throws(IssuerError)
    /// Puts the push subscription in the place of the one that the issuer may have.
    func subscribe(_ access: IssuerAccess, _ subscription: PushSubscription) async throws(IssuerError)
    /// Ends the push subscription; one that is not there is no failure.
    func unsubscribe(_ access: IssuerAccess) async throws(IssuerError)
}

/// What an authenticated call needs.
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

/// Why a call to an issuer brought no answer that can be used.
package enum IssuerError: Error, Sendable {
    /// The issuer answered with a problem whose code the protocol lists: it ends what was tried.
    case problem(Problem)
    /// Anything else, such as no connection, a proxy's page, a redirect, garbage or 5xx.
    ///
    /// The same may be tried again, not before `retryAfter` seconds if the server asked for that.
    case transient(reason: String, retryAfter: Int64?)

    /// One sentence for logs and people; carries no body and no token.
    package var reason: String {
        switch self {
        case .problem(let problem): problem.code.map { "the issuer answered \($0.rawValue)" } ?? "the issuer refused"
        case .transient(let reason, _): reason
        }
    }
    /// Seconds.
    package var retryAfter: Int64? {
        if case .transient(_, let retryAfter) = self { retryAfter } else { nil }
    }
}
