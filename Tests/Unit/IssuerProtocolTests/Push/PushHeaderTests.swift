import Testing

@testable import IssuerProtocol

struct PushHeaderTests {
    private func headers(_ changes: [String: [String]]) throws -> PushHeaders {
        try PushHeaders(PushSample().fields(changes))
    }

    private func reason(_ changes: [String: [String]]) throws -> String {
        let answer = try #require(throws: PushAnswer.self) { try headers(changes) }
        #expect(answer.status == 400 && answer.code == .invalidPush && answer.retryAfter == nil)
        return answer.reason
    }

    @Test(
        arguments: [
            ("0", 0), ("1", 1), ("0060", 60), ("2419200", 2_419_200), ("2147483648", 2_147_483_648),
            ("2147483649", 2_147_483_648), ("99999999999999999999999", 2_147_483_648),
        ] as [(String, Int64)])
    func `TTL is seconds; more than HTTP counts are as many as it counts`(text: String, seconds: Int64) throws {
        #expect(try headers(["TTL": [text]]).ttl == seconds)
    }

    @Test(
        arguments: [[], [""], ["-1"], ["+1"], ["1.0"], ["1 "], ["a"], ["٣"], ["60, 60"], ["60", "60"]] as [[String]])
    func `a TTL that is missing, twice or no number is refused`(values: [String]) throws {
        #expect(try reason(["TTL": values]) == "ttl")
    }

    @Test(arguments: [[], [""], ["aesgcm"], ["gzip"], ["aes128gcm, gzip"], ["aes128gcm", "aes128gcm"]] as [[String]])
    func `another content coding than aes128gcm is refused`(values: [String]) throws {
        #expect(try reason(["Content-Encoding": values]) == "contentEncoding")
        #expect(throws: Never.self) { try headers(["Content-Encoding": ["AES128GCM"]]) }
    }

    @Test(arguments: [nil, "a", "upd", "A-Z_09", String(repeating: "x", count: 32)])
    func `a topic has 1 to 32 characters of base64url`(topic: String?) throws {
        #expect(try headers(["Topic": topic.map { [$0] } ?? []]).topic == topic)
    }

    @Test(arguments: [[""], [String(repeating: "x", count: 33)], ["a b"], ["a="], ["é"], ["a/b"], ["a", "a"]])
    func `another topic is refused`(values: [String]) throws {
        #expect(try reason(["Topic": values]) == "topic")
    }

    @Test(
        arguments: [
            ("very-low", .veryLow), ("low", .low), ("normal", .normal), ("high", .high), ("HIGH", .high),
        ] as [(String, PushHeaders.Urgency)])
    func `an urgency is one of four`(text: String, urgency: PushHeaders.Urgency) throws {
        #expect(try headers(["Urgency": [text]]).urgency == urgency)
        #expect(try headers([:]).urgency == .normal)
    }

    @Test(arguments: [[""], ["urgent"], ["low, high"], ["low", "low"]])
    func `another urgency, or several, are refused`(values: [String]) throws {
        #expect(try reason(["Urgency": values]) == "urgency")
    }

    @Test func `names are compared without regard to case, and other fields mean nothing`() throws {
        let fields = PushFields([
            ("ttl", "5"), ("CONTENT-ENCODING", "aes128gcm"), ("TopiC", "t"), ("Crypto-Key", "x"), ("Prefer", "y"),
        ])
        let headers = try PushHeaders(fields)
        #expect(headers.ttl == 5 && headers.topic == "t")
    }
}
