/// The status and the header fields of an HTTP answer.
struct AnswerHead: Sendable, Equatable {
    let status: UInt
    /// Values by name in lower case.
    ///
    /// If a name occurs several times, the last value counts.
    private(set) var fields: [String: String] = [:]

    /// Parses a status line without its line end, such as `HTTP/1.1 200 OK` (RFC 9112 §4).
    init(statusLine line: [UInt8]) throws(AnswerError) {
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count > 1, words[0].starts(with: "HTTP/1.".utf8), words[1].count == 3,
            let status = UInt(String(decoding: words[1], as: UTF8.self)), status >= 200
        else { throw .noHTTP }
        self.status = status
    }

    subscript(name: String) -> String? { fields[name] }

    /// Adds a field from its line, which is given without its line end.
    mutating func add(fieldLine line: [UInt8]) throws(AnswerError) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .noHTTP }
        let value = String(decoding: line[(colon + 1)...], as: UTF8.self)
        fields[String(decoding: line[..<colon], as: UTF8.self).lowercased()] =
            String(value.drop { $0 == " " || $0 == "\t" })
    }

    /// Returns the framing of the body, which determines its end (RFC 9112 §6.3).
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

/// The framing of an answer's body, which marks its end.
enum AnswerFraming: Equatable {
    case length(Int), chunked
    /// The end of the connection alone marks the end, so a truncated answer looks like a complete one.
    case none
}

/// An error in the bytes of an answer.
enum AnswerError: Error, Equatable {
    /// The bytes do not begin as an HTTP/1.1 answer.
    case noHTTP
    /// The bytes begin as an HTTP/1.1 answer, but the rest is malformed.
    case brokenBody
}
