import Keys
import StrictJSON
import Testing
import TextAndTime

@testable import IssuerProtocol

struct PushInboxTests {
    private let sample: PushSample

    init() throws { sample = try PushSample() }

    private func answer(
        _ changes: [String: [String]] = [:], body: [UInt8]? = nil, in inbox: PushInbox? = nil
    ) throws -> PushAnswer {
        let body = try body ?? sample.key.recipient.encrypt([])
        return try #require(throws: PushAnswer.self) {
            try (inbox ?? sample.inbox).read(sample.fields(changes), body: body, now: PushSample.now)
        }
    }

    @Test func `a push of the issuer is taken with what its fields say`() throws {
        let message = try sample.read(Array("hint".utf8), ["Topic": ["t"], "Urgency": ["high"]])
        #expect(message.body == .hint)
        #expect(message.headers.ttl == 60 && message.headers.topic == "t" && message.headers.urgency == .high)
    }

    @Test func `a JWS is a message as it came`() throws {
        let input = CompactJWS.signingInput(kid: "k", typ: "oob-authn-request+jwt", payload: Array("{}".utf8))
        let jws = CompactJWS.compact(signingInput: input, signature: try sample.signer.rawSignature(over: input))
        #expect(try sample.read(Array(jws.utf8)).body == .message(jws))
    }

    // It is for the reader of messages to say what is wrong with it, and to count it.
    @Test(arguments: [#"{"alg":"none"}"#, #"{"alg":"ES256","typ":"JWT"}"#, #"{"alg":"ES256","alg":"ES256"}"#])
    func `a JWS that is not in order is a message all the same`(header: String) throws {
        let jws = "\(Base64URL.encode(Array(header.utf8))).e30.AAAA"
        #expect(try sample.read(Array(jws.utf8)).body == .message(jws))
    }

    @Test(arguments: ["", "{}", "wake.up.now", "a.b", "e30.e30.AA\n", " ", "..", "\u{0}", #"{"requests":1}"#])
    func `anything else is a hint`(text: String) throws {
        #expect(try sample.read(Array(text.utf8)).body == .hint)
        #expect(try sample.read([0xFF, 0xFE, 0x2E, 0x2E]).body == .hint)
    }

    @Test func `the longest message is taken, and a body of one byte more is 413 whatever else it is`() throws {
        let plain = [UInt8](repeating: 0x61, count: 3_993)
        #expect(try sample.read(plain).body == .hint)
        let tooLong = [UInt8](repeating: 0, count: 4_097)
        for changes: [String: [String]] in [[:], ["Authorization": []], ["TTL": []]] {
            let answer = try answer(changes, body: tooLong)
            #expect(answer.status == 413 && answer.code == .tooLarge && answer == .tooLarge)
        }
    }

    @Test func `no VAPID is 401 with a challenge, and wrong VAPID 403`() throws {
        let missing = try answer(["Authorization": []])
        #expect(missing.status == 401 && missing.reason == "vapidMissing")
        #expect(missing.fields.contains { $0.name == "WWW-Authenticate" && $0.value == "vapid" })
        let wrong = try answer(["Authorization": [PushSample().authorization()]])
        #expect(wrong.status == 403 && wrong.code == .invalidVAPID && wrong.reason == "vapidKey")
        #expect(!wrong.fields.contains { $0.name == "WWW-Authenticate" })
        let authorization = try sample.authorization()
        #expect(try answer(["Authorization": [authorization, authorization]]).reason == "vapidMalformed")
    }

    @Test func `who is not the issuer learns nothing about fields and ciphertext`() throws {
        #expect(try answer(["Authorization": [], "TTL": []], body: []).status == 401)
    }

    @Test func `a service in front may have looked at the VAPID`() throws {
        let inbox = PushInbox(endpoint: sample.endpoint, key: sample.key, vapid: .upstream)
        let body = try sample.key.recipient.encrypt([])
        for authorization in [[], ["nonsense"], ["vapid t=1", "vapid k=2"]] {
            let fields = try sample.fields(["Authorization": authorization])
            #expect(try inbox.read(fields, body: body, now: PushSample.now).body == .hint)
        }
        #expect(try answer(["TTL": []], in: inbox).reason == "ttl")
    }

    @Test func `fields come before ciphertext, and both are 400`() throws {
        #expect(try answer(["TTL": []], body: []).reason == "ttl")
        let empty = try answer(body: [])
        #expect(empty.status == 400 && empty.code == .invalidPush && empty.reason == "tooShort")
        let other = try answer(body: PushReceiverKey.generate().recipient.encrypt([1]))
        #expect(other.status == 400 && other.reason == "ciphertext")
    }

    @Test(arguments: [
        (PushAnswer.unknownEndpoint, 404, "unknown_endpoint"), (.tooMany(retryAfter: 7), 429, "too_many"),
        (.tooLarge, 413, "too_large"), (PushAnswer(VAPIDRefusal.vapidMissing), 401, "vapid_required"),
        (PushAnswer(VAPIDRefusal.vapidExpired), 403, "invalid_vapid"),
        (PushAnswer(VAPIDRefusal.vapidCannotTell), 503, "unavailable"),
        (PushAnswer(PushRefusal.delimiter), 400, "invalid_push"),
    ])
    func `an answer is a problem with its status and code`(answer: PushAnswer, status: Int64, code: String) throws {
        let problem = try JSONReader.object(answer.body, limits: JSONLimits(maxBytes: 1_000))
        #expect(try problem.integer("status") == status && problem.string("code") == code)
        #expect(try problem.string("detail") == answer.detail && answer.status == Int(status))
        #expect(answer.fields.contains { $0.name == "Content-Type" && $0.value == "application/problem+json" })
        let retryAfter = answer.fields.first { $0.name == "Retry-After" }?.value
        #expect(retryAfter == (status == 429 ? "7" : status == 503 ? "10" : nil))
    }

    @Test func `every refusal of a VAPID is 401, 403 or 503, in its own words`() {
        for refusal in VAPIDRefusal.allCases {
            let answer = PushAnswer(refusal)
            let expected = refusal == .vapidMissing ? 401 : refusal == .vapidCannotTell ? 503 : 403
            #expect(answer.status == expected && answer.reason == refusal.rawValue && answer.detail == refusal.detail)
        }
        #expect(Set(VAPIDRefusal.allCases.map(\.detail)).count == VAPIDRefusal.allCases.count)
    }
}
