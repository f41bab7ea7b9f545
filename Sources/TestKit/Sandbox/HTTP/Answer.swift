import HTTPTypes
import IssuerProtocol
package import StrictJSON

/// The part of an answer that is sent before its connection is closed.
package enum Transmission: Sendable, Equatable {
    case whole, nothing
    /// The full length announced, and half of the body sent.
    case half
    /// Ever more white space, up to a bound far beyond what any client should read.
    case endless
}

/// An HTTP answer to be sent.
package struct Answer: Sendable {
    package var status: Int
    package var contentType: String?
    package var body: [UInt8]
    /// Retry-After, in seconds.
    package var retryAfter: Int64?
    /// The methods of the path, for a 405.
    package var allow: String?
    package var transmission: Transmission = .whole

    package init(
        status: Int, contentType: String? = nil, body: [UInt8] = [], retryAfter: Int64? = nil, allow: String? = nil
    ) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.retryAfter = retryAfter
        self.allow = allow
    }

    package static func json(_ status: Int, _ object: JSONObject) -> Answer {
        Answer(status: status, contentType: "application/json", body: JSONValue.object(object).serialized())
    }

    static func list(_ elements: [JSONObject]) -> Answer {
        let array = JSONValue.array(elements.map { .object($0) })
        return Answer(status: 200, contentType: "application/json", body: array.serialized())
    }

    static let noContent = Answer(status: 204, body: [])

    static func problem(_ refusal: SandboxError, allow: String? = nil) -> Answer {
        let title = HTTPResponse.Status(integerLiteral: refusal.status).reasonPhrase
        let problem = Problem(
            status: refusal.status, code: refusal.code, title: title.isEmpty ? nil : title, detail: refusal.detail)
        var json = problem.json
        json["erro"] = refusal.erro.map(JSONValue.object)
        return Answer(
            status: refusal.status, contentType: Problem.contentType, body: JSONValue.object(json).serialized(),
            retryAfter: refusal.retryAfter, allow: allow)
    }
}
