import IssuerProtocol
import Records
import Synchronization

/// Stands where the network would be: a fetch brings what the schedule says, and a decision waits until the schedule
/// answers it.
final class ScriptedGateway: IssuerGateway {
    /// A decision that is under way.
    struct Call: Sendable {
        let token: String
        let jti: String
        let body: [UInt8]
    }

    private typealias Answer = Result<TransStatus, IssuerError>

    private struct State {
        var next = 0
        var lists: [String: [String]] = [:]
        var underWay: [Int: (call: Call, continuation: CheckedContinuation<Answer, Never>)] = [:]
        /// By token: the greatest signCount that the issuer accepted.
        var accepted: [String: UInt32] = [:]
    }

    func problem(withRoots pem: String) -> String? { nil }

    private let keySet: JWKSet
    private let notifier: ChangeNotifier
    private let state = Mutex(State())

    init(keys: JWKSet, notifier: ChangeNotifier) {
        keySet = keys
        self.notifier = notifier
    }

    // MARK: The script

    /// What the next fetches with this token bring.
    func list(_ messages: [String], for token: String) { state.withLock { $0.lists[token] = messages } }

    var underWay: [Call] { state.withLock { $0.underWay.sorted { $0.key < $1.key }.map(\.value.call) } }

    func accept(_ signCount: UInt32, for token: String) { state.withLock { $0.accepted[token] = signCount } }

    func accepted(for token: String) -> UInt32 { state.withLock { $0.accepted[token] ?? 0 } }

    func answer(_ token: String, jti: String, with answer: Result<TransStatus, IssuerError>) {
        let found = state.withLock { state in
            state.underWay.first { $0.value.call.token == token && $0.value.call.jti == jti }
                .flatMap { state.underWay.removeValue(forKey: $0.key) }
        }
        found?.continuation.resume(returning: answer)
    }

    // MARK: The calls

    func decide(
        _ access: IssuerAccess, jti: TokenID, body: [UInt8], traceparent: String?
    ) async throws(IssuerError) -> TransStatus {
        let call = Call(token: access.token.reveal(), jti: jti.text, body: body)
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in hold(call, as: id, continuation) }
        } onCancel: {
            let held = state.withLock { $0.underWay.removeValue(forKey: id) }
            held?.continuation.resume(returning: .failure(.down))
        }
        return try answer.get()
    }

    private func hold(_ call: Call, as id: Int, _ continuation: CheckedContinuation<Answer, Never>) {
        let isCancelled = state.withLock { state in
            guard !Task.isCancelled else { return true }
            state.underWay[id] = (call, continuation)
            return false
        }
        if isCancelled { continuation.resume(returning: .failure(.down)) }
        notifier.ring()
    }

    func fetch(_ access: IssuerAccess, wait: Int, after cursor: String?) async throws(IssuerError) -> RequestList {
        let messages = state.withLock { $0.lists[access.token.reveal()] ?? [] }
        return RequestList(requests: messages, cursor: "cursor")
    }

    func status(_ access: IssuerAccess) async throws(IssuerError) -> AuthenticatorStatus {
        guard let id = TokenID("authenticator") else { throw .down }
        return AuthenticatorStatus(authenticatorId: id, signCount: accepted(for: access.token.reveal()))
    }

    func discovery(_ target: IssuerTarget) async throws(IssuerError) -> Discovery {
        let base = target.issuer.text
        return Discovery(
            issuer: target.issuer, jwksUri: "\(base)/jwks.json", enrollmentOptionsEndpoint: "\(base)/options",
            enrollmentsEndpoint: "\(base)/enrollments", authnRequestsEndpoint: "\(base)/requests",
            authenticatorEndpoint: "\(base)/authenticator")
    }

    func keys(_ target: IssuerTarget, _ discovery: Discovery) async throws(IssuerError) -> JWKSet { keySet }

    // Nobody enrolls, and no issuer here has a batch fetch.

    func enrollmentOptions(
        _ target: IssuerTarget, _ discovery: Discovery, code: EnrollmentCode
    ) async throws(IssuerError) -> EnrollmentOptionsAnswer { throw .down }

    func enroll(
        _ target: IssuerTarget, _ discovery: Discovery, body: [UInt8]
    ) async throws(IssuerError) -> EnrollmentAnswer { throw .down }

    func batchFetch(
        _ target: IssuerTarget, _ discovery: Discovery, request: BatchFetchRequest
    ) async throws(IssuerError) -> BatchFetchAnswer { throw .down }

    func unenroll(_ access: IssuerAccess) async throws(IssuerError) { throw .down }

    func subscribe(_ access: IssuerAccess, _ subscription: PushSubscription) async throws(IssuerError) {
        throw .down
    }

    func unsubscribe(_ access: IssuerAccess) async throws(IssuerError) { throw .down }
}

extension IssuerError {
    static let down = IssuerError.transient(reason: "no answer that counts", retryAfter: nil)
}
