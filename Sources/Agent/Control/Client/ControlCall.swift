import TextAndTime

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
    /// How far events are known, if they are asked for.
    var lastEventID: CursorText?

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
    ) throws(ClientError) -> Answer {
        guard mediaType == "application/json", (200...299).contains(status) || status == otherStatus,
            let answer = ControlJSON.answer(body, as: type)
        else { throw problem }
        return answer
    }

    /// What an answer says that is not the one that was asked for.
    var problem: ClientError {
        if mediaType == ControlError.contentType, let error = ControlJSON.answer(body, as: ControlError.self) {
            return .refused(error)
        }
        guard mediaType == "application/json" || mediaType == ControlError.contentType else {
            return .unreachable(
                "What listens on the socket did not answer as an oob-agent does (HTTP status \(status)).")
        }
        let sender = server.map { ", which is \(TerminalText.escaped($0.beginning(bytes: 64)))," } ?? ""
        return .unclear(
            "The answer of the agent\(sender) could not be read (HTTP status \(status)): is it of another version? "
                + "What was asked may have been done.")
    }

    /// The lines of a body of JSON lines, each without its end.
    func lines() throws(ClientError) -> [[UInt8]] {
        guard mediaType == Self.jsonLines, (200...299).contains(status) else {
            throw problem
        }
        return body.split(separator: UInt8(ascii: "\n")).map(Array.init)
    }

    /// The media type without its parameters.
    private var mediaType: String? {
        contentType?.lowercased().prefix { $0 != ";" && $0 != " " }.description
    }
}

/// How long a client waits for the agent's answer, in seconds: longer than the agent may take for it.
package enum ControlTimeout {
    /// What is read from the agent's own store.
    package static let read = 15
    /// A million requests are counted.
    static let fleet = 120
    /// The agent repeats an enrollment whose answer was lost for 10 minutes.
    static let enroll = 660
    /// The agent waits for its outbox, and then for the issuer.
    static let unenroll = 660
    /// Approvals of the same enrollment come first, and a PIN takes a tenth of a second and more.
    static let pinChange = 60
    /// A large database is copied before the first byte comes.
    package static let backup = 86_400
    /// Ten million entries, and some.
    static let verify = 3_600
    /// Events are waited for as long as the client lives.
    static let events = 365 * 86_400
    /// One request to each issuer, side by side, 30 s at most.
    static let fetch = 60
    /// So for ten million enrollments, page by page.
    static let fetchOfAll = 5_400

    /// The seconds for which a client waits longer than the agent may take: to connect, and for the answer to come.
    package static let margin = 10

    /// The wait for the request, the decision, the wait for the issuer, and the margin.
    package static func decide(_ command: DecideCommand) -> Int {
        command.secondsToDecide + (command.deliveryTimeout ?? DecideCommand.defaultDeliveryTimeout) + margin
    }
}
