import IssuerProtocol
import Records

/// Stands where the network would be: records every call, and answers as the test says.
actor ScriptedIssuer: IssuerGateway {
    struct Decision: Sendable {
        let token: String
        let jti: String
        let body: [UInt8]
        let traceparent: String?
    }

    struct Fetch: Sendable {
        let token: String
        let wait: Int
        let cursor: String?
    }

    struct BatchFetch: Sendable {
        let wait: Int
        /// By authenticator id.
        let cursors: [String: String?]
    }

    nonisolated func problem(withRoots pem: String) -> String? { nil }

    /// Each call as it comes in, before it is answered.
    let decided = Channel<Decision>()
    let fetched = Channel<Fetch>()
    let batchFetched = Channel<BatchFetch>()
    let enrolled = Channel<[UInt8]>()

    private(set) var decisions: [Decision] = []
    private(set) var fetches: [Fetch] = []
    private(set) var batchFetches: [BatchFetch] = []
    private(set) var registrations: [[UInt8]] = []
    private(set) var unenrollments: [String] = []
    private(set) var subscriptions: [PushSubscription] = []
    private(set) var unsubscriptions = 0
    private(set) var codes: [String] = []
    private(set) var statusCalls = 0
    private(set) var keyFetches = 0
    private(set) var discoveries = 0

    /// What can be called.
    enum Call: Sendable, CaseIterable {
        case discovery, keys, options, enroll, fetch, batchFetch, decide, status, unenroll, subscribe
    }

    /// The call that never answers at one issuer.
    private var silence: (call: Call, issuer: IssuerURL)?
    /// Told each time that it was made.
    let fellSilent = Channel<Call>()

    private var keySet: @Sendable () async throws(IssuerError) -> JWKSet
    private var whenDiscovered: @Sendable () async throws(IssuerError) -> Void = { () throws(IssuerError) in }
    private var whenDecided: @Sendable (Decision) async throws(IssuerError) -> TransStatus = {
        (decision) throws(IssuerError) in
        String(decoding: decision.body, as: UTF8.self).contains(#""approve""#) ? .authenticated : .notAuthenticated
    }
    /// Without a script a fetch brings nothing until it is cancelled.
    private var whenFetched: @Sendable (Fetch) async throws(IssuerError) -> RequestList = {
        (_) throws(IssuerError) in
        throw await .waitingWasCancelled
    }
    /// Without a script the issuer has no batch fetch.
    private var whenBatchFetched: (@Sendable (BatchFetch) async throws(IssuerError) -> BatchFetchAnswer)?
    private var whenAskedForOptions: @Sendable (String) async throws(IssuerError) -> EnrollmentOptionsAnswer = {
        (_) throws(IssuerError) in throw .down
    }
    private var whenEnrolled: @Sendable ([UInt8]) async throws(IssuerError) -> EnrollmentAnswer = {
        (_) throws(IssuerError) in throw .down
    }
    /// The greatest signCount that the issuer says it accepted.
    private var whenAskedForStatus: @Sendable (String) async throws(IssuerError) -> UInt32 = {
        (_) throws(IssuerError) in 0
    }
    private var vapidKey: [UInt8]?
    private var whenSubscribed: @Sendable (PushSubscription) async throws(IssuerError) -> Void = {
        (_) throws(IssuerError) in
    }
    private var whenUnenrolled: @Sendable () async throws(IssuerError) -> Void = { () throws(IssuerError) in }

    init(keys: JWKSet) { keySet = { () throws(IssuerError) in keys } }

    // MARK: The script

    func onKeys(_ script: @escaping @Sendable () async throws(IssuerError) -> JWKSet) { keySet = script }

    func onDiscovery(_ script: @escaping @Sendable () async throws(IssuerError) -> Void) { whenDiscovered = script }

    func onDecision(_ script: @escaping @Sendable (Decision) async throws(IssuerError) -> TransStatus) {
        whenDecided = script
    }

    func onFetch(_ script: @escaping @Sendable (Fetch) async throws(IssuerError) -> RequestList) {
        whenFetched = script
    }

    func onBatchFetch(_ script: (@Sendable (BatchFetch) async throws(IssuerError) -> BatchFetchAnswer)?) {
        whenBatchFetched = script
    }

    func onOptions(_ script: @escaping @Sendable (String) async throws(IssuerError) -> EnrollmentOptionsAnswer) {
        whenAskedForOptions = script
    }

    func onEnrollment(_ script: @escaping @Sendable ([UInt8]) async throws(IssuerError) -> EnrollmentAnswer) {
        whenEnrolled = script
    }

    func onStatus(_ script: @escaping @Sendable (String) async throws(IssuerError) -> UInt32) {
        whenAskedForStatus = script
    }

    func onUnenrollment(_ script: @escaping @Sendable () async throws(IssuerError) -> Void) {
        whenUnenrolled = script
    }

    /// Lets one issuer never answer a call.
    func fallSilent(at call: Call, of issuer: IssuerURL) { silence = (call, issuer) }

    private func pass(_ call: Call, _ target: IssuerTarget) async throws(IssuerError) {
        guard let silence, silence.call == call, silence.issuer == target.issuer else { return }
        fellSilent.send(call)
        throw await .waitingWasCancelled
    }

    /// Without it the issuer does not push.
    func setVAPIDKey(_ point: [UInt8]?) { vapidKey = point }

    func onSubscription(_ script: @escaping @Sendable (PushSubscription) async throws(IssuerError) -> Void) {
        whenSubscribed = script
    }

    // MARK: The calls

    func discovery(_ target: IssuerTarget) async throws(IssuerError) -> Discovery {
        discoveries += 1
        try await pass(.discovery, target)
        try await whenDiscovered()
        let base = target.issuer.text
        return Discovery(
            issuer: target.issuer, jwksUri: "\(base)/jwks.json", enrollmentOptionsEndpoint: "\(base)/options",
            enrollmentsEndpoint: "\(base)/enrollments", authnRequestsEndpoint: "\(base)/requests",
            authenticatorEndpoint: "\(base)/authenticator",
            batchFetchEndpoint: whenBatchFetched == nil ? nil : "\(base)/batch", vapidPublicKey: vapidKey)
    }

    func keys(_ target: IssuerTarget, _ discovery: Discovery) async throws(IssuerError) -> JWKSet {
        keyFetches += 1
        try await pass(.keys, target)
        return try await keySet()
    }

    func enrollmentOptions(
        _ target: IssuerTarget, _ discovery: Discovery, code: EnrollmentCode
    ) async throws(IssuerError) -> EnrollmentOptionsAnswer {
        codes.append(code.reveal())
        try await pass(.options, target)
        return try await whenAskedForOptions(code.reveal())
    }

    func enroll(
        _ target: IssuerTarget, _ discovery: Discovery, body: [UInt8]
    ) async throws(IssuerError) -> EnrollmentAnswer {
        registrations.append(body)
        try await pass(.enroll, target)
        enrolled.send(body)
        return try await whenEnrolled(body)
    }

    func fetch(_ access: IssuerAccess, wait: Int, after cursor: String?) async throws(IssuerError) -> RequestList {
        let fetch = Fetch(token: access.token.reveal(), wait: wait, cursor: cursor)
        try await pass(.fetch, access.target)
        fetches.append(fetch)
        fetched.send(fetch)
        return try await whenFetched(fetch)
    }

    func batchFetch(
        _ target: IssuerTarget, _ discovery: Discovery, request: BatchFetchRequest
    ) async throws(IssuerError) -> BatchFetchAnswer {
        let cursors = request.entries.map { ($0.authenticatorId.text, $0.after) }
        try await pass(.batchFetch, target)
        let fetch = BatchFetch(wait: request.wait, cursors: Dictionary(uniqueKeysWithValues: cursors))
        batchFetches.append(fetch)
        batchFetched.send(fetch)
        guard let whenBatchFetched else { throw .down }
        return try await whenBatchFetched(fetch)
    }

    func decide(
        _ access: IssuerAccess, jti: TokenID, body: [UInt8], traceparent: String?
    ) async throws(IssuerError) -> TransStatus {
        let decision = Decision(token: access.token.reveal(), jti: jti.text, body: body, traceparent: traceparent)
        try await pass(.decide, access.target)
        decisions.append(decision)
        decided.send(decision)
        return try await whenDecided(decision)
    }

    func status(_ access: IssuerAccess) async throws(IssuerError) -> AuthenticatorStatus {
        statusCalls += 1
        try await pass(.status, access.target)
        guard let id = TokenID("authenticator") else { throw .down }
        return AuthenticatorStatus(
            authenticatorId: id, signCount: try await whenAskedForStatus(access.token.reveal()))
    }

    func unenroll(_ access: IssuerAccess) async throws(IssuerError) {
        unenrollments.append(access.token.reveal())
        try await pass(.unenroll, access.target)
        try await whenUnenrolled()
    }

    func subscribe(_ access: IssuerAccess, _ subscription: PushSubscription) async throws(IssuerError) {
        subscriptions.append(subscription)
        try await pass(.subscribe, access.target)
        try await whenSubscribed(subscription)
    }

    func unsubscribe(_ access: IssuerAccess) async throws(IssuerError) { unsubscriptions += 1 }
}

extension IssuerError {
    static let down = IssuerError.transient(reason: "no connection", retryAfter: nil)

    static func problem(_ code: ProblemCode) -> IssuerError { .problem(Problem(code)) }

    /// Waits until the task is cancelled, as a long poll that brings nothing, and says so.
    static var waitingWasCancelled: IssuerError {
        get async {
            _ = try? await Channel<Void>().next()
            return .transient(reason: "cancelled", retryAfter: nil)
        }
    }
}

extension Channel {
    /// The next value, for a script: being cancelled is a failure of the network there.
    func answer() async throws(IssuerError) -> Value {
        do { return try await next() } catch { throw .transient(reason: "cancelled", retryAfter: nil) }
    }
}
