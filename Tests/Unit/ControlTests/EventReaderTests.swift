import Testing

@testable import Control

/// Events are read whatever pieces they come in.
struct EventReaderTests {
    private static let two: [UInt8] =
        ServerSentEvents.position("3")
        + ServerSentEvents.event(
            "5", Array(#"{"event":"enrolled","seq":5,"at":"2023-10-17T05:56:38Z","enrollmentId":"e1"}"#.utf8))
        + ServerSentEvents.stillThere
        + ServerSentEvents.event("7", Array(#"{"event":"gap","seq":7,"at":"2023-10-17T05:56:39Z","new":{}}"#.utf8))

    private static let read = [
        EventView(event: "enrolled", seq: 5, at: "2023-10-17T05:56:38Z", enrollmentId: "e1"),
        EventView(event: "gap", seq: 7, at: "2023-10-17T05:56:39Z"),
    ]

    @Test(arguments: [1, 2, 3, 7, 50, 10_000]) func `events come out of pieces of any size`(size: Int) throws {
        var reader = EventReader(position: nil)
        var events: [EventView] = []
        for start in stride(from: 0, to: Self.two.count, by: size) {
            events += try reader.read(Self.two[start..<min(start + size, Self.two.count)])
        }
        #expect(events == Self.read)
        #expect(reader.position == CursorText("7"))
    }

    @Test func `the position moves also if nothing is told, and never back to nothing`() throws {
        var reader = EventReader(position: CursorText("2"))
        #expect(try reader.read(Array(":\n\nid: x\n\n".utf8)).isEmpty)
        #expect(reader.position == CursorText("2"))
        #expect(try reader.read(ServerSentEvents.position("9")).isEmpty)
        #expect(reader.position == CursorText("9"))
    }

    @Test func `an event that is cut off is none, and the position is before it`() throws {
        var reader = EventReader(position: nil)
        #expect(try reader.read(Self.two.dropLast()) == Array(Self.read.prefix(1)))
        #expect(reader.position == CursorText("5"))
    }

    @Test(arguments: ["0", "17", "alpha:17,beta:4", "a.b-c:9223372036854775807"])
    func `a position is kept as the agent says it`(text: String) throws {
        var reader = EventReader(position: nil)
        #expect(try reader.read(ServerSentEvents.position(text)).isEmpty)
        #expect(reader.position?.text == text)
    }

    @Test(arguments: ["", "-1", "x", "1 2", "alpha:1\r\nX: y", "Alpha:1", "æ:1", "9223372036854775808"])
    func `what no agent says is no position`(text: String) { #expect(CursorText(text) == nil) }

    @Test func `a position has at most 8,000 bytes`() {
        let long = "a:" + String(repeating: "1", count: 7_998)
        #expect(CursorText(long) != nil)
        #expect(CursorText(long + "1") == nil)
    }

    @Test(arguments: ["{}", "garbage", #"{"event":"enrolled","seq":"5"}"#])
    func `what is no event is an error`(data: String) {
        var reader = EventReader(position: nil)
        #expect(throws: ClientError.self) { try reader.read(ServerSentEvents.event("1", Array(data.utf8))) }
    }

    @Test func `a line of 262,144 bytes is read, and one more is an error`() throws {
        var reader = EventReader(position: nil)
        let limit = [UInt8](repeating: UInt8(ascii: "x"), count: 262_144)
        #expect(try reader.read(limit + [UInt8(ascii: "\n")]).isEmpty)
        #expect(try reader.read(limit).isEmpty)
        #expect(throws: ClientError.self) { try reader.read([UInt8(ascii: "x")]) }
    }

    @Test func `an event and an audit have the promised members`() throws {
        #expect(
            String(decoding: try ControlJSON.encode(Self.read[0]), as: UTF8.self)
                == #"{"at":"2023-10-17T05:56:38Z","enrollmentId":"e1","event":"enrolled","seq":5}"#)
        var told = EventView(event: "gap", seq: 7, at: "2023-10-17T05:56:39Z")
        (told.host, told.cursor) = ("beta", "alpha:5,beta:7")
        #expect(
            String(decoding: try ControlJSON.encode(told), as: UTF8.self)
                == #"{"at":"2023-10-17T05:56:39Z","cursor":"alpha:5,beta:7","event":"gap","host":"beta","seq":7}"#)
        let mark = AuditMarkView(seq: 1, digest: "d", statement: "s", signature: "AA==")
        let audit = AuditView(
            whole: false, entries: 0, head: mark, publicKey: "P", fault: AuditFaultView(seq: 1, message: "m"))
        #expect(
            String(decoding: try ControlJSON.encode(audit), as: UTF8.self)
                == #"{"entries":0,"fault":{"message":"m","seq":1},"head":{"digest":"d","seq":1,"signature":"AA==","#
                + #""statement":"s"},"publicKey":"P","whole":false}"#)
    }
}
