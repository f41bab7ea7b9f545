import TextAndTime

/// A request to the agent.
struct ControlCall: Sendable {
    enum Method: String, Sendable { case get = "GET", post = "POST", delete = "DELETE" }

    let method: Method
    /// Path and query, percent-encoded.
    let target: String
    let body: [UInt8]?
    /// The time limit for the answer, in seconds.
    let seconds: Int
    /// The media type of the requested answer, for the field `Accept`.
    var accepted = "application/json"
    /// The position of the last event that the client has, if the call reads events.
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

/// The agent's answer: the bytes of the body with status and media type.
struct ControlAnswer: Sendable, Equatable {
    static let jsonLines = "application/x-ndjson"

    let status: UInt
    let contentType: String?
    /// The field `Server`, which names the program that answered: `oob-agent/0.1.0`.
    var server: String?
    /// Whether a `Link` field names a next page of the list (RFC 8288).
    var hasNext = false
    let body: [UInt8]

    /// Decodes the body as the requested type, or throws the agent's error.
    ///
    /// - Parameter otherStatus: a further status with which the agent sends the requested type.
    func read<Answer: Decodable>(
        as type: Answer.Type, alsoAt otherStatus: UInt? = nil
    ) throws(ClientError) -> Answer {
        guard mediaType == "application/json", (200...299).contains(status) || status == otherStatus,
            let answer = ControlJSON.answer(body, as: type)
        else { throw problem }
        return answer
    }

    /// The error in an answer that is not the requested one.
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

    /// Returns the lines of a JSON Lines body, each without its line end.
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

/// Time limits of a client for the agent's answers, in seconds.
///
/// Each is longer than the agent may take.
package enum ControlTimeout {
    /// For a read of the agent's own store.
    package static let read = 15
    /// For a fleet report, which counts a million requests.
    static let fleet = 120
    /// For an enrollment.
    ///
    /// If the issuer's answer is lost, the agent repeats the enrollment for 10 minutes.
    static let enroll = 660
    /// For an unenrollment.
    ///
    /// The agent waits for its outbox, and then for the issuer.
    static let unenroll = 660
    /// For a PIN change.
    ///
    /// Approvals of the same enrollment run first, and a PIN check takes a tenth of a second or more.
    static let pinChange = 60
    /// For a backup.
    ///
    /// The agent copies a large database before it sends the first byte.
    package static let backup = 86_400
    /// For a verification of the journal, with a little more than ten million entries.
    static let verify = 3_600
    /// For the events, which the client reads as long as it lives.
    static let events = 365 * 86_400
    /// For one request to each issuer, in parallel, which takes at most 30 s.
    static let fetch = 60
    /// For a fetch of all: the same for ten million enrollments, page by page.
    static let fetchOfAll = 5_400

    /// The seconds that a client waits longer than the agent may take.
    ///
    /// They cover the connect and the transfer of the answer.
    package static let margin = 10

    /// Returns the sum of the wait for the request, the decision, the wait for the issuer, and the margin.
    package static func decide(_ command: DecideCommand) -> Int {
        command.secondsToDecide + (command.deliveryTimeout ?? DecideCommand.defaultDeliveryTimeout) + margin
    }
}
