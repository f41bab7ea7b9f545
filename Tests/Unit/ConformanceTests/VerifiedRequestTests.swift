import Conformance
import IssuerProtocol
import Keys
import StrictJSON
import Testing
import TextAndTime
import ThreeDS
import WebAuthn

/// What is read of a request beside its verdict.
struct VerifiedRequestTests {
    private let key: SigningKey
    private let facts: EnrollmentFacts
    private let claims: JSONObject

    init() throws {
        key = try SigningKey.generate(.es256)
        facts = try RequestCases.named("good").facts
        guard case .object(let request) = try RequestCases.goodRequest() else { throw NoRequest("no request") }
        claims = try request.object("claims")
    }

    private func message(_ claims: JSONObject, typ: String = "oob-authn-request+jwt") throws -> String {
        let input = CompactJWS.signingInput(kid: "key-1", typ: typ, payload: claims.serialized())
        return CompactJWS.compact(signingInput: input, signature: try key.rawSignature(over: input))
    }

    private func verdict(_ message: String, now: Int64 = 1_697_522_200) -> MessageVerdict {
        AuthnRequestReader.read(message, for: facts, keys: JWKSet(keys: [("key-1", key.publicKey)]), now: now)
    }

    private func request(_ changes: JSONObject, now: Int64 = 1_697_522_200) throws -> VerifiedRequest {
        var claims = claims
        for change in changes.members { claims[change.name] = change.value }
        guard case .request(let request) = verdict(try message(claims), now: now) else { throw NoRequest("no request") }
        return request
    }

    @Test func `a refused request says what of it could be read`() throws {
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let request = try request(["nonce": nil, "traceparent": .string(trace)])
        #expect(request.jti == TokenID("request-1"))
        #expect(request.acsTransId?.text == "2f37539c-d82e-4929-88db-2f9e72c7fa62")
        #expect(request.iat == 1_697_522_198)
        #expect(request.exp == 1_697_522_798)
        #expect(request.traceparent == trace)
    }

    @Test func `what could not be read is nil`() throws {
        let request = try request(["iat": "x", "exp": nil, "transaction": "x"])
        #expect(request.iat == nil && request.exp == nil && request.acsTransId == nil && request.traceparent == nil)
    }

    @Test func `the payload's digest is of its bytes`() throws {
        let one = try request([:])
        #expect(one.payloadDigest == (try SHA256Digest.of(claims.serialized())))
        #expect(try request(["x": 1]).payloadDigest != one.payloadDigest)
    }

    @Test(arguments: [(61, true), (600, true), (601, false)] as [(Int64, Bool)])
    func `a request from the future says by how many seconds`(ahead: Int64, isHeld: Bool) throws {
        switch try request(["iat": .integer(1_697_522_200 + ahead)]).verdict {
        case .early(let seconds): #expect(isHeld && seconds == ahead)
        case .tooEarly(let seconds): #expect(!isHeld && seconds == ahead)
        default: Issue.record("neither held nor dropped")
        }
    }

    @Test func `a request in order has everything that a decision needs`() throws {
        let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        let transaction = try claims.object("transaction")
        let challenge = try ChallengeCommitment.challenge(nonce: Array(0..<16), transaction: transaction)
        var publicKey = try claims.object("publicKey")
        publicKey["challenge"] = .string(Base64URL.encode(challenge))
        let read = try request(["publicKey": .object(publicKey), "traceparent": .string(trace)])
        guard case .inOrder(let request) = read.verdict else { throw NoRequest("not in order: \(read.verdict)") }
        #expect(request.jti == read.jti && request.iat == 1_697_522_198 && request.exp == 1_697_522_798)
        #expect(request.nonce == Array(0..<16))
        #expect(request.challenge == challenge && request.options.challenge == challenge)
        #expect(request.transaction.members.map(\.name) == transaction.members.map(\.name))
        #expect(request.traceparent == trace)
        let digest = try ChallengeCommitment.transactionDigest(
            request.transaction, userVerification: "preferred", payment: nil)
        #expect(request.transactionDigest == digest)
    }

    @Test(arguments: [
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-011",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0\n",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
        "",
    ])
    func `a traceparent that W3C Trace Context does not know is left out`(text: String) throws {
        #expect(try request(["traceparent": .string(text)]).traceparent == nil)
    }

    @Test func `a cancellation says what it cancels and until when it counts`() throws {
        let claims: JSONObject = [
            "iss": "https://issuer.example", "aud": "authenticator-1", "jti": "cancellation-1",
            "iat": 1_697_522_198, "exp": 1_697_522_798, "cancels": "request-1",
        ]
        let message = try message(claims, typ: "oob-authn-cancel+jwt")
        guard case .cancellation(let cancellation) = verdict(message),
            let jti = TokenID("cancellation-1"), let cancels = TokenID("request-1")
        else { throw NoRequest("no cancellation") }
        let expected = Cancellation(
            jti: jti, iat: 1_697_522_198, exp: 1_697_522_798, cancels: cancels,
            payloadDigest: try SHA256Digest.of(claims.serialized()))
        #expect(cancellation == expected)
    }

    @Test func `an unknown key is named`() throws {
        let message = try message(claims)
        let verdict = AuthnRequestReader.read(message, for: facts, keys: JWKSet(keys: []), now: 1_697_522_200)
        guard case .unknownKey(let kid, let reason) = verdict else { throw NoRequest("not an unknown key: \(verdict)") }
        #expect(kid == "key-1" && reason == #"the issuer's JWK Set has no key "key-1""#)
    }

    @Test func `a message with any one character changed is not authentic`() throws {
        let good = Array(try message(claims).utf8)
        for index in good.indices {
            var bytes = good
            bytes[index] = bytes[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            switch verdict(String(decoding: bytes, as: UTF8.self)) {
            case .notAuthentic, .unknownKey: continue
            case let other: Issue.record("character \(index): \(other)")
            }
        }
    }

    @Test func `a message cut anywhere is not authentic`() throws {
        let good = Array(try message(claims).utf8)
        for count in good.indices {
            guard case .notAuthentic = verdict(String(decoding: good[..<count], as: UTF8.self)) else {
                Issue.record("\(count) characters were taken")
                continue
            }
        }
    }
}

private struct NoRequest: Error {
    init(_: String) {}
}
