/// Takes an HTTP/1.1 answer out of bytes as they come (RFC 9112), whatever their pieces.
///
/// The agent alone answers here, for ``SocketTrust`` has asked the kernel who listens. So what the agent never sends is not
/// read (interim answers, fields behind the body) or not looked for (what a name or a value may hold). An answer that ends
/// too early or is not framed as one is never taken for a whole one, and what is kept of it is bounded.
struct AnswerReader {
    /// The most bytes of the status line and the fields, and of the lines between chunks.
    static let maxHeadBytes = 65_536

    private enum State {
        case statusLine
        case fields(AnswerHead)
        case body(left: Int)
        case chunkLine
        case chunk(left: Int)
        case chunkEnd
        /// Behind the last chunk.
        case end
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
            case .statusLine, .fields, .chunkLine, .chunkEnd, .end:
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
        guard line.count <= Self.maxHeadBytes else { throw head == nil ? .noHTTP : .brokenBody }
        if head == nil {
            headBytesLeft -= piece.count
            guard headBytesLeft >= 0 else { throw .noHTTP }
        }
        // Another kind of server may send no end of a line, and say nothing more.
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

    private mutating func end(_ head: AnswerHead) throws(AnswerError) {
        switch try head.framing() {
        case .none: state = .endless
        case .chunked: state = .chunkLine
        case .length(0): state = .over
        case .length(let bytes): state = .body(left: bytes)
        }
        self.head = head
    }

    /// The size before a chunk.
    private static func chunkSize(_ line: [UInt8]) throws(AnswerError) -> Int {
        guard let size = Int(String(decoding: line, as: UTF8.self), radix: 16), size >= 0 else { throw .brokenBody }
        return size
    }
}
