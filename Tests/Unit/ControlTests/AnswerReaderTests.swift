import Testing

@testable import Control

@Suite struct AnswerReaderTests {
    private static let fields = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

    /// The body, once it is whole, of an answer that comes in pieces of that many bytes.
    private func body(_ text: String, pieces: Int = 1) throws -> String? {
        var reader = AnswerReader()
        var body: [UInt8] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            body += try reader.read(bytes[start..<min(start + pieces, bytes.count)])
        }
        return reader.isOver ? String(decoding: body, as: UTF8.self) : nil
    }

    @Test(arguments: [1, 2, 3, 7, 1_000])
    func `an answer is the same whatever its pieces`(pieces: Int) throws {
        let chunks = "3\r\nabc\r\n00A\r\n0123456789\r\n0\r\n\r\n"
        #expect(
            try body(Self.fields + "Transfer-Encoding: chunked\r\n\r\n" + chunks, pieces: pieces) == "abc0123456789")
        #expect(try body(Self.fields + "content-length:  5\r\n\r\nabcde", pieces: pieces) == "abcde")
        #expect(try body("HTTP/1.1 204\r\n\r\n", pieces: pieces) == "")
    }

    @Test func `names of fields are compared without case, and spaces before values are none of theirs`() throws {
        var reader = AnswerReader()
        _ = try reader.read(Array("HTTP/1.1 200 OK\r\nLINK: \t a\r\nContent-Length: 0\r\n\r\n".utf8)[...])
        #expect(reader.head?["link"] == "a")
        #expect(reader.head?.status == 200)
    }

    @Test func `what comes behind the promised body is not part of it`() throws {
        #expect(try body(Self.fields + "Content-Length: 3\r\n\r\nabcdef", pieces: 1_000) == "abc")
        #expect(try body(Self.fields + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1 x", pieces: 1_000) == "")
    }

    @Test(arguments: ["X: y\r\n", "X: " + String(repeating: "y", count: 1_000), "x"])
    func `a head without end is given up`(piece: String) {
        let text = Self.fields + String(repeating: piece, count: AnswerReader.maxHeadBytes / piece.utf8.count + 1)
        #expect(throws: AnswerError.noHTTP) { try body(text, pieces: 4_096) }
    }

    @Test func `a chunk's size without end is given up`() {
        let digits = String(repeating: "0", count: AnswerReader.maxHeadBytes + 1)
        #expect(throws: AnswerError.brokenBody) {
            try body(Self.fields + "Transfer-Encoding: chunked\r\n\r\n" + digits, pieces: 4_096)
        }
    }

    @Test(arguments: [
        "", "x", "-1", "0x10", " 1", "1x", "10000000000000000", "ffffffffffffffff", "7fffffffffffffff1",
    ])
    func `what is no size of a chunk is refused`(size: String) {
        #expect(throws: AnswerError.brokenBody) {
            try body(Self.fields + "Transfer-Encoding: chunked\r\n\r\n" + size + "\r\na\r\n0\r\n\r\n")
        }
    }

    @Test func `a chunk ends where it said`() {
        #expect(throws: AnswerError.brokenBody) {
            try body(Self.fields + "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n")
        }
    }

    @Test(arguments: [
        "Content-Length: -1", "Content-Length: ", "Content-Length: 1, 1", "Content-Length: 18446744073709551616",
        "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: identity", "X y",
    ])
    func `a head that is not in order is refused`(fields: String) {
        #expect(throws: AnswerError.noHTTP) { try body(Self.fields + fields + "\r\n\r\n") }
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH_9.2p1", "HTTP/2 200\r\n", "HTTP/1.1 20\r\n", "HTTP/1.1 2000\r\n", "HTTP/1.1  200\r\n",
        "HTTP/1.1 100 Continue\r\n", "HTTP/1.1 101 Switching Protocols\r\n", "HTTP/1.1 200 OK\n", "\u{16}\u{3}\u{1}",
        "\r\nHTTP/1.1 200 OK\r\n",
    ])
    func `what begins otherwise is no answer`(text: String) {
        #expect(throws: AnswerError.noHTTP) { try body(text + "\r\n\r\n") }
        #expect(throws: AnswerError.noHTTP) { try body(text + "\r\n\r\n", pieces: 1_000) }
    }

    @Test func `an answer whose end is not told is never whole`() throws {
        #expect(try body(Self.fields + "\r\n{}") == nil)
    }
}
