import StandingClocks
import Testing

@testable import IssuerLink
@testable import IssuerProtocol

@Suite(.timeLimit(.minutes(20)))
struct RetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    private static let moment: Int64 = 784_111_777

    @Test(arguments: [
        ("0", 0), ("1", 1), ("0120", 120), ("3600", 3_600), ("3601", 3_600),
        ("99999999999999999999999999", 3_600),
    ])
    func `seconds count up to an hour`(_ value: String, _ seconds: Int64) {
        #expect(RetryAfter.seconds(value, now: 0) == seconds)
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func `a date counts from now, in each of HTTP's three forms`(_ value: String) {
        #expect(RetryAfter.seconds(value, now: Self.moment - 90) == 90)
        #expect(RetryAfter.seconds(value, now: Self.moment) == 0)
        #expect(RetryAfter.seconds(value, now: Self.moment + 1) == 0)
        #expect(RetryAfter.seconds(value, now: Self.moment - 3_601) == 3_600)
        #expect(RetryAfter.seconds(value, now: .min) == 3_600)
        #expect(RetryAfter.seconds(value, now: .max) == 0)
    }

    @Test(arguments: [
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000),
        ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200), ("Wed, 31 Dec 2025 23:59:59 GMT", 1_767_225_599),
        ("Tuesday, 01-Jan-30 00:00:00 GMT", 1_893_456_000),
    ])
    func `dates are those of the calendar`(_ value: String, _ seconds: Int64) {
        #expect(HTTPDate.secondsSince1970(value) == seconds)
    }

    @Test(arguments: [
        "", " ", "-1", "+5", "1.5", "soon", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Xyz 1994 08:49:37 GMT",
        "Sun, 06 Nov 99999999999999999999 08:49:37 GMT", "1994-11-06T08:49:37Z",
    ])
    func `anything else is no wish`(_ value: String) {
        #expect(RetryAfter.seconds(value, now: 0) == nil)
    }

    @Test(arguments: [429, 503])
    func `a busy server is asked when to come again`(_ status: Int) async throws {
        let reply = Reply.answer(status, text: "busy", type: "text/plain", headers: ["Retry-After: 17"])
        try await Link.run { _ in
            reply
        } _: { link in
            let failure = try await mustFail { try await link.decide() }
            #expect(failure.retryAfter == 17)
        }
    }

    @Test func `a busy server's date counts from the agent's clock`() async throws {
        let reply = Reply.answer(503, headers: ["Retry-After: Sun, 06 Nov 1994 08:49:37 GMT"])
        try await Link.run(clock: StandingClock(now: Self.moment - 5)) { _ in
            reply
        } _: { link in
            let failure = try await mustFail { try await link.decide() }
            #expect(failure.retryAfter == 5)
        }
    }

    @Test func `a busy server is heard although its page is too large or breaks off`() async throws {
        for length in [5, 9_999_999] {
            let head = "HTTP/1.1 503 Busy\r\nRetry-After: 17\r\nContent-Length: \(length)\r\n\r\n"
            try await Link.run { _ in
                Reply(head, body: [1], then: .close)
            } _: { link in
                let failure = try await mustFail { try await link.decide() }
                #expect(failure.retryAfter == 17)
            }
        }
    }

    @Test(arguments: [200, 302, 401, 500, 502])
    func `others are not`(_ status: Int) async throws {
        try await Link.run { _ in
            .answer(status, headers: ["Retry-After: 17"])
        } _: { link in
            let failure = try await mustFail { try await link.decide() }
            #expect(failure.isTransient)
            #expect(failure.retryAfter == nil)
        }
    }
}
