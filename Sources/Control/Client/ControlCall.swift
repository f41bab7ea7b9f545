import StrictJSON

/// One request to the agent.
struct ControlCall: Sendable {
    enum Method: String, Sendable { case get = "GET", post = "POST", delete = "DELETE" }

    let method: Method
    /// Path and query, percent-encoded.
    let target: String
    let body: [UInt8]?
    /// How long the answer may take, in seconds.
    let seconds: Int
    /// The media type that is asked for.
    var accepted = "application/json"
    /// The last event that is known, if events are asked for.
    var lastEventID: Int64?

    init(_ method: Method, _ segments: [String], query: [(String, String)] = [], body: [UInt8]? = nil, seconds: Int) {
        self.method = method
        let path = "/v1/" + segments.map(PercentEncoding.encode).joined(separator: "/")
        let pairs = query.map { PercentEncoding.encode($0.0) + "=" + PercentEncoding.encode($0.1) }
        self.target = pairs.isEmpty ? path : path + "?" + pairs.joined(separator: "&")
        self.body = body
        self.seconds = seconds
    }
}

/// What came back: the bytes of the body with status and media type.
struct ControlAnswer: Sendable, Equatable {
    static let jsonLines = "application/x-ndjson"

    let status: UInt
    let contentType: String?
    /// What answered, as it names itself: `oob-agent/0.1.0`.
    var server: String?
    /// Whether the list goes on at another address (RFC 8288).
    var hasNext = false
    let body: [UInt8]

    /// Reads the body as what was asked for, or as the agent's error.
    ///
    /// - Parameter otherStatus: one that may come with what was asked for too.
    func read<Answer: Decodable>(
        as type: Answer.Type, alsoAt otherStatus: UInt? = nil
    ) throws(ClientFailure) -> Answer {
        guard mediaType == "application/json", (200...299).contains(status) || status == otherStatus,
            let answer = ControlJSON.answer(body, as: type)
        else { throw problem }
        return answer
    }

    /// What an answer says that is not the one that was asked for.
    var problem: ClientFailure {
        if mediaType == ControlError.contentType, let error = ControlJSON.answer(body, as: ControlError.self) {
            return .refused(error)
        }
        guard mediaType == "application/json" || mediaType == ControlError.contentType else {
            return .unreachable(
                "What listens on the socket did not answer as an oob-agent does (HTTP status \(status)).")
        }
        let sender = server.map { ", which is \($0.prefix(64))," } ?? ""
        return .unclear(
            "The answer of the agent\(sender) could not be read (HTTP status \(status)): is it of another version? "
                + "What was asked may have been done.")
    }

    /// The lines of a body of JSON lines, each without its end.
    func lines() throws(ClientFailure) -> [[UInt8]] {
        guard mediaType == Self.jsonLines, (200...299).contains(status) else {
            throw problem
        }
        return body.split(separator: UInt8(ascii: "\n")).map(Array.init)
    }

    /// The media type without its parameters.
    private var mediaType: String? {
        contentType?.split(separator: ";").first?.lowercased().trimmingSpaces()
    }
}

extension String {
    fileprivate func trimmingSpaces() -> String {
        let withoutFirst = drop { $0 == " " }
        return String(withoutFirst.reversed().drop { $0 == " " }.reversed())
    }
}
