/// Parser of an HTTP/1.1 answer (RFC 9112) that accepts its bytes in pieces of any size.
///
/// Only the agent answers here: ``SocketTrust`` has asked the kernel who listens. So the reader does not support what
/// the agent never sends (interim answers, trailer fields), and it does not check the characters of names and values.
/// It never accepts an answer as complete if the answer ends too early or has no valid framing. The size of what it
/// keeps is bounded.
struct AnswerReader {
    /// The maximum size in bytes of the status line with the fields, and of a line between chunks.
    static let maxHeadBytes = 65_536

    private enum State {
        case statusLine
        case fields(AnswerHead)
        case body(left: Int)
        case chunkLine
        case chunk(left: Int)
        case chunkEnd
        /// After the last chunk.
        case end
        case endless, over
    }

    /// The head of the answer.
    ///
    /// `nil` until all of it has arrived.
    private(set) var head: AnswerHead?
    private var state = State.statusLine
    /// The part of the current line that has arrived.
    private var line: [UInt8] = []
    private var headBytesLeft = maxHeadBytes

    /// Whether this answer is complete.
    ///
    /// Bytes after its end are ignored.
    var isOver: Bool {
        if case .over = state { true } else { false }
    }

    /// Reads more of the answer and returns the bytes of the body among them.
    mutating func read(_ bytes: ArraySlice<UInt8>) throws(AnswerError) -> [UInt8] {
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
            case .statusLine, .fields, .chunkLine, .chunkEnd, .end:
                if let line = try nextLine(of: &rest) { try finish(line) }
            }
        }
        return body
    }

    private static func first(_ count: Int, of rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let piece = rest.prefix(count)
        rest = rest.dropFirst(piece.count)
        return piece
    }

    /// Returns the next line without its line end.
    ///
    /// `nil` until all of the line has arrived.
    private mutating func nextLine(of rest: inout ArraySlice<UInt8>) throws(AnswerError) -> [UInt8]? {
        let end = rest.firstIndex(of: UInt8(ascii: "\n"))
        let piece = Self.first(end.map { $0 - rest.startIndex + 1 } ?? rest.count, of: &rest)
        line += piece
        guard line.count <= Self.maxHeadBytes else { throw head == nil ? .noHTTP : .brokenBody }
        if head == nil {
            headBytesLeft -= piece.count
            guard headBytesLeft >= 0 else { throw .noHTTP }
        }
        // A server of another kind may never send a line end, so check the beginning of the line before its end
        // arrives.
        if case .statusLine = state, !zip(line, "HTTP/1.".utf8).allSatisfy(==) { throw .noHTTP }
        guard end != nil else { return nil }
        defer { line = [] }
        guard line.suffix(2).elementsEqual("\r\n".utf8) else { throw head == nil ? .noHTTP : .brokenBody }
        return line.dropLast(2)
    }

    private mutating func finish(_ line: [UInt8]) throws(AnswerError) {
        switch state {
        case .statusLine: state = .fields(try AnswerHead(statusLine: line))
        case .fields(let head) where line.isEmpty: try finish(head)
        case .fields(var head):
            try head.add(fieldLine: line)
            state = .fields(head)
        case .chunkLine:
            let size = try Self.chunkSize(line)
            state = size == 0 ? .end : .chunk(left: size)
        case .chunkEnd:
            guard line.isEmpty else { throw .brokenBody }
            state = .chunkLine
        case .end:
            guard line.isEmpty else { throw .brokenBody }
            state = .over
        case .body, .chunk, .endless, .over: break
        }
    }

    private mutating func finish(_ head: AnswerHead) throws(AnswerError) {
        switch try head.framing() {
        case .none: state = .endless
        case .chunked: state = .chunkLine
        case .length(0): state = .over
        case .length(let bytes): state = .body(left: bytes)
        }
        self.head = head
    }

    /// Parses the size line before a chunk.
    private static func chunkSize(_ line: [UInt8]) throws(AnswerError) -> Int {
        guard let size = Int(String(decoding: line, as: UTF8.self), radix: 16), size >= 0 else { throw .brokenBody }
        return size
    }
}
