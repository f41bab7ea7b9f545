import Testing

@testable import Journal

/// A place in the chains of all hosts is a text that a reader keeps, and comes back with.
struct EventCursorTests {
    private func cursor(_ text: String) throws -> EventCursor { try #require(EventCursor(text)) }

    @Test(arguments: ["0", "17", "9223372036854775807", "alpha:17", "alpha:17,beta:4", "1:2,3:4", "a.b-c:5"])
    func `a text is read and written as it is`(text: String) throws {
        #expect(try cursor(text).text == text)
    }

    @Test(arguments: [
        ("beta:4,alpha:17", "alpha:17,beta:4"), ("007", "7"), ("alpha:0,beta:04", "beta:4"), ("alpha:0", "0"),
    ])
    func `what means the same is written in one way`(text: String, written: String) throws {
        #expect(try cursor(text).text == written)
        #expect(try cursor(text) == cursor(written))
    }

    @Test(arguments: [
        "", "-1", "+1", " 1", "1 ", "0x1", "1.5", "yesterday", "9223372036854775808", "alpha", "alpha:", ":17", ":",
        "alpha:-1", "alpha:+1", "alpha:9223372036854775808", "alpha:1,", ",alpha:1", "alpha:1,,beta:2",
        "alpha:1,alpha:1", "alpha:1,beta:2,alpha:3", "alpha:1:2", "alpha:1, beta:2", "alpha:1;beta:2", "17,beta:4",
        "Alpha:1", "al_pha:1", "ælpha:1", "alpha:1\n", "alpha:١", String(repeating: "a", count: 64) + ":1",
    ])
    func `anything else is refused`(text: String) { #expect(EventCursor(text) == nil) }

    @Test func `a text has at most 257 hosts, and 8,000 bytes`() throws {
        let hosts = (1...258).map { "h\($0):1" }
        #expect(EventCursor(hosts.joined(separator: ",")) == nil)
        #expect(EventCursor(hosts.dropLast().joined(separator: ",")) != nil)
        // 121 places of 65 bytes, and the last with 15 digits more.
        let names = (0..<121).map { "\(100 + $0)" + String(repeating: "a", count: 60) }
        let long = names.map { "\($0):1" }.joined(separator: ",") + String(repeating: "0", count: 15)
        #expect(long.utf8.count == EventCursor.maxBytes)
        #expect(EventCursor(long)?.text == long)
        #expect(EventCursor(long + "0") == nil)
    }

    @Test func `a number has at most 19 digits`() {
        let digits = String(repeating: "0", count: 18) + "1"
        #expect(EventCursor(digits) == EventCursor(1))
        for text in ["0" + digits, "alpha:0" + digits] { #expect(EventCursor(text) == nil) }
    }

    @Test func `a host that is not named is at its beginning`() throws {
        #expect(try cursor("alpha:17")["beta"] == 0)
        #expect(EventCursor.beginning == EventCursor(0))
    }

    @Test func `one reaches another if it is nowhere before it`() throws {
        let place = try cursor("alpha:17,beta:4")
        for other in ["0", "alpha:17", "beta:4", "alpha:17,beta:4"] { #expect(place.reaches(try cursor(other))) }
        for other in ["17", "alpha:18", "beta:5", "alpha:1,gamma:1"] { #expect(!place.reaches(try cursor(other))) }
    }
}
