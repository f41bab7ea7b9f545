import IssuerProtocol
import StrictJSON

/// The endpoints of the kit's issuer.
enum KitEndpoint: String, Sendable, CaseIterable {
    case discovery, keys, options, enrollments, requests, batch, decision, status
}

/// What a call is answered instead of what the protocol says.
struct KitScript: Sendable {
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
    var retryAfter: Int?

    var answer: KitAnswer {
        if let code { return .problem(code) }
        var answer =
            switch body {
            case .empty: KitAnswer(status: status)
            case .html: KitAnswer(status: status, contentType: "text/html", body: Array("<html>Gateway</html>".utf8))
            case .other: KitAnswer.json(status, ["ok": true])
            }
        answer.retryAfter = retryAfter
        // A redirect leads to where everything would be taken.
        if (300..<400).contains(status) { answer.location = "/redirected" }
        return answer
    }
}

/// A call that came, for what a case says of how often and with what an approver asks.
struct KitCall: Sendable {
    /// More are not kept.
    static let limit = 10_000
    /// The most bytes of bodies that the issuer of a case keeps, of calls and decisions together.
    static let maxBytes = 8 * 1_048_576

    let endpoint: KitEndpoint
    /// Of a decision.
    let jti: String?
    let hasCursor: Bool
    let body: [UInt8]
}
