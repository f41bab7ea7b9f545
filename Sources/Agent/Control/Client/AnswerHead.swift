/// The status and the fields of an HTTP answer.
struct AnswerHead: Sendable, Equatable {
    let status: UInt
    /// Names in lower case; of several fields of a name the last one.
    private(set) var fields: [String: String] = [:]

    /// Reads a status line without its end: `HTTP/1.1 200` and words (RFC 9112 §4).
    init(statusLine line: [UInt8]) throws(AnswerError) {
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count > 1, words[0].starts(with: "HTTP/1.".utf8), words[1].count == 3,
            let status = UInt(String(decoding: words[1], as: UTF8.self)), status >= 200
        else { throw .noHTTP }
        self.status = status
    }

    subscript(name: String) -> String? { fields[name] }

    /// Adds a field from its line without the end.
    mutating func add(fieldLine line: [UInt8]) throws(AnswerError) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .noHTTP }
        let value = String(decoding: line[(colon + 1)...], as: UTF8.self)
        fields[String(decoding: line[..<colon], as: UTF8.self).lowercased()] =
            String(value.drop { $0 == " " || $0 == "\t" })
    }

    /// The framing of the body, which tells its end (RFC 9112 §6.3).
    func framing() throws(AnswerError) -> AnswerFraming {
        guard status != 204, status != 304 else { return .length(0) }
        if let coding = self["transfer-encoding"] {
            guard coding == "chunked" else { throw .noHTTP }
            return .chunked
        }
        guard let text = self["content-length"] else { return .none }
        guard let length = Int(text), length >= 0 else { throw .noHTTP }
        return .length(length)
    }
}

/// How the end of an answer's body is told.
enum AnswerFraming: Equatable {
    case length(Int), chunked
    /// Only by the end of the connection, so that an answer that was cut off looks like a whole one.
    case none
}

/// Why bytes are no answer.
enum AnswerError: Error, Equatable {
    /// They do not begin as an HTTP/1.1 answer.
    case noHTTP
    /// They begin as one, and go on as none can.
    case brokenBody
}
