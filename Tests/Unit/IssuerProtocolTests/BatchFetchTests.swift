import IssuerProtocol
import StrictJSON
import Testing

struct BatchFetchTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private func entry(_ number: Int, after: String? = nil) throws -> BatchFetchRequest.Entry {
        BatchFetchRequest.Entry(
            authenticatorId: try #require(TokenID("authenticator-\(number)")),
            accessToken: try #require(AccessToken("token-\(number)")), after: after)
    }

    private func result(
        _ number: Int, _ outcome: BatchFetchAnswer.Outcome
    ) throws -> BatchFetchAnswer.Result {
        BatchFetchAnswer.Result(authenticatorId: try #require(TokenID("authenticator-\(number)")), outcome: outcome)
    }

    private func list(_ count: Int) -> BatchFetchAnswer.Outcome {
        .list(RequestList(requests: Array(repeating: "x", count: count), cursor: "c"))
    }

    // MARK: The request

    @Test func `a request is these bytes, and read back`() throws {
        let request = BatchFetchRequest(wait: 50, entries: [try entry(1, after: "c"), try entry(2)])
        #expect(
            String(decoding: request.bytes, as: UTF8.self)
                == #"{"wait":50,"authenticators":[{"authenticatorId":"authenticator-1","accessToken":"token-1","#
                + #""after":"c"},{"authenticatorId":"authenticator-2","accessToken":"token-2"}]}"#)
        let read = try BatchFetchRequest(bytes: request.bytes)
        #expect(read.wait == 50)
        #expect(read.entries.map(\.authenticatorId.text) == ["authenticator-1", "authenticator-2"])
        #expect(read.entries.map { $0.accessToken.reveal() } == ["token-1", "token-2"])
        #expect(read.entries.map(\.after) == ["c", nil])
    }

    @Test(arguments: [(0, false), (1, true), (1_000, true), (1_001, false)])
    func `a request is for 1 to 1,000 authenticators`(count: Int, isRead: Bool) throws {
        let request = BatchFetchRequest(wait: 0, entries: try (0..<count).map { try entry($0) })
        #expect(((try? BatchFetchRequest(bytes: request.bytes)) != nil) == isRead)
    }

    @Test func `the largest request that an agent can make is read`() throws {
        let id = String(repeating: "i", count: 60)
        let token = try #require(AccessToken(String(repeating: "t", count: 512)))
        let entries = try (1_000..<2_000).map { number in
            BatchFetchRequest.Entry(
                authenticatorId: try #require(TokenID("\(id)\(number)")), accessToken: token,
                after: String(repeating: "😀", count: 256))
        }
        let bytes = BatchFetchRequest(wait: 60, entries: entries).bytes
        #expect(bytes.count > 1_048_576)
        #expect(try BatchFetchRequest(bytes: bytes).entries.count == 1_000)
    }

    @Test(arguments: [
        #"{"wait":0}"#, #"{"authenticators":[{"authenticatorId":"a","accessToken":"t"}]}"#,
        #"{"wait":61,"authenticators":[{"authenticatorId":"a","accessToken":"t"}]}"#,
        #"{"wait":-1,"authenticators":[{"authenticatorId":"a","accessToken":"t"}]}"#,
        #"{"wait":"0","authenticators":[{"authenticatorId":"a","accessToken":"t"}]}"#,
        #"{"wait":0,"authenticators":["a"]}"#, #"{"wait":0,"authenticators":[{"authenticatorId":"a"}]}"#,
        #"{"wait":0,"authenticators":[{"authenticatorId":"a b","accessToken":"t"}]}"#,
        #"{"wait":0,"authenticators":[{"authenticatorId":"a","accessToken":"é"}]}"#,
        #"{"wait":0,"authenticators":[{"authenticatorId":"a","accessToken":"t","after":""}]}"#,
        #"{"wait":0,"authenticators":[{"authenticatorId":"a","accessToken":"t","after":1}]}"#,
        #"{"wait":0,"authenticators":[{"authenticatorId":"a","accessToken":"t","accessToken":"t"}]}"#,
        #"{"wait":0,"authenticators":[{"authenticatorId":"a","accessToken":"t"},"#
            + #"{"authenticatorId":"a","accessToken":"u"}]}"#,
    ])
    func `anything else is no request`(text: String) {
        #expect(throws: ProtocolError.self) { try BatchFetchRequest(bytes: bytes(text)) }
    }

    @Test func `what is wrong with a request is named with its place, and no token is repeated`() throws {
        let text = #"{"wait":0,"authenticators":[{"authenticatorId":"a","accessToken":"secret token"}]}"#
        let error = #expect(throws: ProtocolError.self) { try BatchFetchRequest(bytes: bytes(text)) }
        #expect(error?.description.contains("/authenticators/0/accessToken") == true)
        #expect(error?.description.contains("secret") == false)
    }

    // MARK: The answer

    @Test func `an answer is these bytes, and read back`() throws {
        let answer = BatchFetchAnswer(results: [try result(1, list(1)), try result(2, .problem(.invalidToken))])
        #expect(
            String(decoding: answer.json.serialized(), as: UTF8.self)
                == #"{"results":[{"requests":["x"],"cursor":"c","authenticatorId":"authenticator-1"},"#
                + #"{"problem":{"code":"invalid_token"},"authenticatorId":"authenticator-2"}]}"#)
        #expect(try BatchFetchAnswer(bytes: answer.json.serialized()) == answer)
    }

    @Test func `a problem with a code that is not listed is told from those that are`() throws {
        let text = #"{"results":[{"authenticatorId":"authenticator-1","problem":{"code":"other"}}]}"#
        #expect(try BatchFetchAnswer(bytes: bytes(text)).results == [result(1, .problem(nil))])
    }

    @Test(arguments: [([100], true), ([50, 50], true), ([100, 1], false), ([101], false)])
    func `all lists of an answer together hold 100 requests at most`(counts: [Int], isRead: Bool) throws {
        let answer = BatchFetchAnswer(results: try counts.enumerated().map { try result($0, list($1)) })
        #expect(((try? BatchFetchAnswer(bytes: answer.json.serialized())) != nil) == isRead)
    }

    @Test(arguments: [(0, true), (1_000, true), (1_001, false)])
    func `an answer has at most 1,000 results`(count: Int, isRead: Bool) throws {
        let answer = BatchFetchAnswer(results: try (0..<count).map { try result($0, list(0)) })
        #expect(((try? BatchFetchAnswer(bytes: answer.json.serialized())) != nil) == isRead)
    }

    @Test func `an answer has 2 MiB at most`() throws {
        func answer(_ count: Int) throws -> [UInt8] {
            let request = String(repeating: "x", count: count)
            return BatchFetchAnswer(
                results: [try result(1, .list(RequestList(requests: [request], cursor: "c")))]
            ).json.serialized()
        }
        let frame = try answer(0).count
        #expect(try BatchFetchAnswer(bytes: answer(2_097_152 - frame)).results.count == 1)
        #expect(throws: ProtocolError.self) { try BatchFetchAnswer(bytes: answer(2_097_153 - frame)) }
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"results":{}}"#, #"{"results":[1]}"#, #"{"results":[{"authenticatorId":"a"}]}"#,
        #"{"results":[{"requests":[],"cursor":"c"}]}"#, #"{"results":[{"authenticatorId":"a","requests":[]}]}"#,
        #"{"results":[{"authenticatorId":"a","problem":{}}]}"#, #"{"results":[{"authenticatorId":"a","problem":"x"}]}"#,
        #"{"results":[{"authenticatorId":"a","requests":[],"cursor":"c"},"#
            + #"{"authenticatorId":"a","requests":[],"cursor":"c"}]}"#,
    ])
    func `anything else is no answer`(text: String) {
        #expect(throws: ProtocolError.self) { try BatchFetchAnswer(bytes: bytes(text)) }
    }
}
