import IssuerProtocol
import Sandbox
import StrictJSON

/// The endpoints of the protocol that a case can script.
enum CaseEndpoint: String, Sendable, CaseIterable {
    case discovery, keys, options, enrollments, requests, batch, decision, status

    /// Returns `nil` for a call to another path.
    init?(_ call: Call) {
        switch (call.method, call.path) {
        case ("GET", Discovery.path): self = .discovery
        case ("GET", ProtocolRoutes.jwks): self = .keys
        case ("POST", ProtocolRoutes.enrollmentOptions): self = .options
        case ("POST", ProtocolRoutes.enrollments): self = .enrollments
        case ("GET", ProtocolRoutes.authnRequests): self = .requests
        case ("POST", ProtocolRoutes.batchFetch): self = .batch
        case ("GET", ProtocolRoutes.authenticator): self = .status
        case ("POST", let path) where path.hasSuffix("/decision"): self = .decision
        default: return nil
        }
    }
}

/// An answer that replaces the sandbox's.
struct ScriptedAnswer: Sendable {
    enum Body: String, Sendable, CaseIterable {
        case empty, html
        /// JSON that is not an answer of the protocol.
        case other
    }

    var status = 500
    /// A problem of the protocol, which also sets the status.
    var code: ProblemCode?
    var body = Body.empty
    /// Whether this call takes effect and only its answer is replaced.
    var isTaken = false
    /// The value of Retry-After, in seconds.
    var retryAfter: Int64?

    var answer: Answer {
        if let code {
            let problem = Problem(code).json.serialized()
            return Answer(status: code.status, contentType: Problem.contentType, body: problem)
        }
        var answer =
            switch body {
            case .empty: Answer(status: status)
            case .html: Answer(status: status, contentType: "text/html", body: Array("<html>Gateway</html>".utf8))
            case .other: Answer.json(status, ["ok": true])
            }
        answer.retryAfter = retryAfter
        return answer
    }
}

/// A call of an approver, which a case counts or compares.
struct ApproverCall: Sendable {
    /// The limit of recorded calls.
    static let limit = 10_000
    /// The limit of the bodies that a case's issuer stores, in bytes.
    static let maxBytes = 8 * 1_048_576

    let endpoint: CaseEndpoint
    /// The jti, for a call to the decision endpoint.
    let jti: String?
    let hasCursor: Bool
    let body: [UInt8]
    /// The sandbox's own answer, before the script replaces it.
    ///
    /// `nil` if the call did not reach the sandbox, or waits there.
    var answer: Answer?

    init(_ endpoint: CaseEndpoint, _ call: Call) {
        self.endpoint = endpoint
        jti = endpoint == .decision ? call.path.split(separator: "/").dropLast().last.map(String.init) : nil
        hasCursor = call.query["after"] != nil
        body = call.body
    }
}

/// A decision as received, with the sandbox's answer.
struct JudgedDecision: Sendable {
    let jti: String
    let body: [UInt8]
    let answer: Answer

    /// Returns `nil` if the call is not a decision, or has no answer of the sandbox.
    init?(_ call: ApproverCall) {
        guard let jti = call.jti, let answer = call.answer else { return nil }
        self.jti = jti
        body = call.body
        self.answer = answer
    }

    /// The decision, or `nil` if it cannot be read.
    var message: DecisionMessage? { try? DecisionMessage(bytes: body) }

    var isTaken: Bool { answer.status == 200 }

    /// The reason why the decision was refused, or `nil` if it was accepted.
    var problem: String? {
        guard !isTaken else { return nil }
        return Problem(bytes: answer.body, contentType: answer.contentType)?.detail ?? "HTTP \(answer.status)"
    }
}
