/// The status and the fields of an HTTP answer.
struct AnswerHead: Sendable, Equatable {
    let status: UInt
    /// Names in lower case.
    private(set) var fields: [(name: String, value: String)] = []

    /// Reads a status line without its end.
    init(statusLine line: [UInt8]) throws(AnswerError) {
        let version = Array("HTTP/1.".utf8)
        // A digit of the version, a space, three of the status, then the end or a space and words (RFC 9112 §4).
        let (status, rest) = (line.dropFirst(9).prefix(3), line.dropFirst(12))
        guard line.starts(with: version), line.dropFirst(7).prefix(1).allSatisfy(Self.isDigit),
            line.dropFirst(8).first == UInt8(ascii: " "), status.count == 3, status.allSatisfy(Self.isDigit),
            rest.isEmpty || rest.first == UInt8(ascii: " "), rest.allSatisfy(Self.isOfValue),
            let number = UInt(String(decoding: status, as: UTF8.self)), number >= 100
        else { throw .noHTTP }
        self.status = number
    }

    static func == (one: AnswerHead, other: AnswerHead) -> Bool {
        one.status == other.status && one.fields.elementsEqual(other.fields, by: ==)
    }

    /// Whether another head comes before the answer itself (RFC 9110 §15.2).
    var isInterim: Bool { (100...199).contains(status) }

    func values(of name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// Adds a field from its line without the end.
    mutating func add(fieldLine line: [UInt8]) throws(AnswerError) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0,
            line[..<colon].allSatisfy(Self.isOfName), line[colon...].allSatisfy(Self.isOfValue)
        else { throw .noHTTP }
        var value = line[(colon + 1)...]
        while let first = value.first, Self.isSpace(first) { value.removeFirst() }
        while let last = value.last, Self.isSpace(last) { value.removeLast() }
        fields.append(
            (String(decoding: line[..<colon], as: UTF8.self).lowercased(), String(decoding: value, as: UTF8.self)))
    }

    /// How the end of the body is told (RFC 9112 §6.3); a head that says it in two ways is refused.
    func framing() throws(AnswerError) -> AnswerFraming {
        let (codings, lengths) = (values(of: "transfer-encoding"), values(of: "content-length"))
        guard status != 204, status != 304 else { return .length(0) }
        switch (codings.count, lengths.count) {
        case (0, 0): return .none
        case (1, 0) where codings[0].lowercased() == "chunked": return .chunked
        case (0, 1):
            guard !lengths[0].isEmpty, lengths[0].utf8.allSatisfy(Self.isDigit), let length = Int(lengths[0]) else {
                throw .noHTTP
            }
            return .length(length)
        default: throw .noHTTP
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// RFC 9110 §5.6.2: a token.
    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        default: isDigit(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    /// RFC 9110 §5.5: no control character except a tab.
    private static func isOfValue(_ byte: UInt8) -> Bool {
        (byte >= 0x20 && byte != 0x7F) || byte == UInt8(ascii: "\t")
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
