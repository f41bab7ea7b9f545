import IssuerProtocol
import Sandbox
import StrictJSON

/// The endpoints of the protocol that a case can be about.
enum CaseEndpoint: String, Sendable, CaseIterable {
    case discovery, keys, options, enrollments, requests, batch, decision, status

    /// `nil` for a call to none of them.
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

/// The answer that a call gets instead of the sandbox's.
struct ScriptedAnswer: Sendable {
    enum Body: String, Sendable, CaseIterable {
        case empty, html
        /// JSON that is none of the protocol's.
        case other
    }

    var status = 500
    /// A problem of the protocol, with its status.
    var code: ProblemCode?
    var body = Body.empty
    /// Whether the call is taken all the same: only its answer is lost.
    var isTaken = false
    /// Seconds.
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

/// A call that came, for what a case says of how often and with what an approver asks.
struct ApproverCall: Sendable {
    /// More are not kept.
    static let limit = 10_000
    /// The most bytes of bodies that the issuer of a case keeps.
    static let maxBytes = 8 * 1_048_576

    let endpoint: CaseEndpoint
    /// Of a decision.
    let jti: String?
    let hasCursor: Bool
    let body: [UInt8]
    /// The sandbox's, before a script has another go out; `nil` if the call did not reach it, or is held.
    var answer: Answer?

    init(_ endpoint: CaseEndpoint, _ call: Call) {
        self.endpoint = endpoint
        jti = endpoint == .decision ? call.path.split(separator: "/").dropLast().last.map(String.init) : nil
        hasCursor = call.query["after"] != nil
        body = call.body
    }
}

/// A decision as it came, and the sandbox's judgement.
struct JudgedDecision: Sendable {
    let jti: String
    let body: [UInt8]
    let answer: Answer

    /// `nil` if the call is no decision, or was not judged.
    init?(_ call: ApproverCall) {
        guard let jti = call.jti, let answer = call.answer else { return nil }
        self.jti = jti
        body = call.body
        self.answer = answer
    }

    /// `nil` if it cannot be read.
    var message: DecisionMessage? { try? DecisionMessage(bytes: body) }

    var isTaken: Bool { answer.status == 200 }

    /// Why it does not hold; `nil` if it does.
    var problem: String? {
        guard !isTaken else { return nil }
        return Problem(bytes: answer.body, contentType: answer.contentType)?.detail ?? "HTTP \(answer.status)"
    }
}
