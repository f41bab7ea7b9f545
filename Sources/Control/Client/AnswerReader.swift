/// Takes an HTTP/1.1 answer out of bytes as they come (RFC 9112), whatever their pieces: strictly, and bounded.
struct AnswerReader {
    /// The most bytes of status lines and fields, those of interim answers and behind the body included.
    static let maxHeadBytes = 65_536
    /// The most bytes of the line before a chunk.
    private static let maxChunkLineBytes = 1_024
    /// More digits could stand for more bytes than there are numbers for.
    private static let maxChunkDigits = 15

    private enum State {
        case statusLine
        case fields(AnswerHead)
        case body(left: Int)
        case chunkLine
        case chunk(left: Int)
        case chunkEnd, trailer
        case endless, over
    }

    /// The head of the answer, once it is there.
    private(set) var head: AnswerHead?
    private var state = State.statusLine
    /// A line as far as it has come.
    private var line: [UInt8] = []
    private var headBytesLeft = maxHeadBytes

    /// Whether the answer is whole; what comes behind it is not looked at.
    var isOver: Bool {
        if case .over = state { true } else { false }
    }

    /// Reads more of the answer, and returns the bytes of its body among them.
    mutating func take(_ bytes: ArraySlice<UInt8>) throws(AnswerError) -> [UInt8] {
        var rest = bytes
        var body: [UInt8] = []
        while !rest.isEmpty {
            switch state {
            case .over: return body
            case .endless: body += Self.first(rest.count, of: &rest)
            case .body(let left):
                let piece = Self.first(left, of: &rest)
                body += piece
                state = piece.count == left ? .over : .body(left: left - piece.count)
            case .chunk(let left):
                let piece = Self.first(left, of: &rest)
                body += piece
                state = piece.count == left ? .chunkEnd : .chunk(left: left - piece.count)
            case .statusLine, .fields, .chunkLine, .chunkEnd, .trailer:
                if let line = try nextLine(of: &rest) { try end(line) }
            }
        }
        return body
    }

    private static func first(_ count: Int, of rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let piece = rest.prefix(count)
        rest = rest.dropFirst(piece.count)
        return piece
    }

    /// A line without its end, once all of it has come.
    private mutating func nextLine(of rest: inout ArraySlice<UInt8>) throws(AnswerError) -> [UInt8]? {
        let end = rest.firstIndex(of: UInt8(ascii: "\n"))
        let piece = Self.first(end.map { $0 - rest.startIndex + 1 } ?? rest.count, of: &rest)
        line += piece
        switch state {
        case .chunkLine, .chunkEnd:
            guard line.count <= Self.maxChunkLineBytes else { throw .brokenBody }
        default:
            headBytesLeft -= piece.count
            guard headBytesLeft >= 0 else { throw head == nil ? .noHTTP : .brokenBody }
        }
        if case .statusLine = state, !zip(line, "HTTP/1.".utf8).allSatisfy(==) { throw .noHTTP }
        guard end != nil else { return nil }
        defer { line = [] }
        guard line.suffix(2).elementsEqual("\r\n".utf8) else { throw head == nil ? .noHTTP : .brokenBody }
        return line.dropLast(2)
    }

    private mutating func end(_ line: [UInt8]) throws(AnswerError) {
        switch state {
        case .statusLine: state = .fields(try AnswerHead(statusLine: line))
        case .fields(let head) where line.isEmpty: try end(head)
        case .fields(var head):
            try head.add(fieldLine: line)
            state = .fields(head)
        case .chunkLine:
            let size = try Self.chunkSize(line)
            state = size == 0 ? .trailer : .chunk(left: size)
        case .chunkEnd:
            guard line.isEmpty else { throw .brokenBody }
            state = .chunkLine
        case .trailer: if line.isEmpty { state = .over }
        case .body, .chunk, .endless, .over: break
        }
    }

    private mutating func end(_ head: AnswerHead) throws(AnswerError) {
        // Nobody asked for another protocol.
        guard head.status != 101 else { throw .noHTTP }
        guard !head.isInterim else {
            state = .statusLine
            return
        }
        switch try head.framing() {
        case .none: state = .endless
        case .chunked: state = .chunkLine
        case .length(0): state = .over
        case .length(let bytes): state = .body(left: bytes)
        }
        self.head = head
    }

    /// The size before a chunk; extensions behind it are passed over.
    private static func chunkSize(_ line: [UInt8]) throws(AnswerError) -> Int {
        let digits = line.prefix { Character(Unicode.Scalar($0)).isHexDigit }
        let rest = line.dropFirst(digits.count)
        guard digits.count <= maxChunkDigits,
            rest.isEmpty || [UInt8(ascii: ";"), UInt8(ascii: " ")].contains(rest.first),
            let size = Int(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw .brokenBody }
        return size
    }
}
