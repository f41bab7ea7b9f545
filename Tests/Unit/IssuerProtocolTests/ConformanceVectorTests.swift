import FoundationEssentials
import IssuerProtocol
import Keys
import StrictJSON
import Testing
import ThreeDS
import WebAuthn

/// The vectors of `conformance`, which `Tests/Counterparts/make_vectors.py` makes, as the agent and the sandbox judge them.
@Suite struct ConformanceVectorTests {
    private struct Parties {
        let json: JSONObject

        init() throws {
            let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "../../../conformance/vectors/parties.json")
            json = try JSONReader.object([UInt8](Data(contentsOf: file)), limits: JSONLimits(maxBytes: 65_536))
        }

        var facts: EnrollmentFacts {
            get throws {
                EnrollmentFacts(
                    issuer: try IssuerURL(json.string("issuer")),
                    authenticatorId: try #require(TokenID(json.string("authenticatorId"))),
                    rpId: try json.string("rpId"),
                    credentialId: try json.base64url("credentialId", bytes: 1...64), canVerifyUser: true,
                    exponentPolicy: .refuse)
            }
        }
    }

    private static func vectors(_ name: String) throws -> [JSONObject] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../conformance/vectors/\(name).json")
        let limits = JSONLimits(maxBytes: 1_048_576)
        guard case .array(let list) = try JSONReader.value([UInt8](Data(contentsOf: file)), limits: limits) else {
            return []
        }
        return list.compactMap { if case .object(let object) = $0 { object } else { nil } }
    }

    @Test func `the agent makes of each request what the vector says`() throws {
        let parties = try Parties()
        let keys = try JWKSet(json: JSONValue.object(try parties.json.object("jwks")).serialized())
        let vectors = try Self.vectors("requests")
        #expect(vectors.count == 41)
        for vector in vectors {
            let verdict = AuthnRequestReader.read(
                try vector.string("jws"), for: try parties.facts, keys: keys, now: try vector.integer("at"))
            let name = try vector.string("name")
            #expect(try verdict.words.verdict == vector.string("verdict"), "\(name)")
            #expect(try verdict.words.token == vector.optionalString("token"), "\(name)")
        }
    }

    @Test func `a message that was kept presents what it presented when it came`() throws {
        let parties = try Parties()
        let keys = try JWKSet(json: JSONValue.object(try parties.json.object("jwks")).serialized())
        var forms: Set<Bool> = []
        for vector in try Self.vectors("requests") {
            let (name, jws) = (try vector.string("name"), try vector.string("jws"))
            let verdict = AuthnRequestReader.read(
                jws, for: try parties.facts, keys: keys, now: try vector.integer("at"))
            guard case .request(let read) = verdict, case .inOrder(let request) = read.verdict else { continue }
            let kept = try #require(KeptMessage(jws), "\(name)")
            #expect(kept.nonce == request.nonce && kept.transaction.members == request.transaction.members)
            #expect(kept.payment?.json == request.payment?.json)
            forms.insert(kept.payment != nil)
        }
        #expect(forms == [false, true])
    }

    @Test func `the relying party's checks find in each assertion what the vector says`() throws {
        let parties = try Parties()
        let key = try PublicKey(subjectPublicKeyInfo: parties.json.base64url("publicKey", bytes: 1...200))
        let vectors = try Self.vectors("assertions")
        #expect(vectors.count == 34)
        for vector in vectors {
            let (name, found) = (try vector.string("name"), try Self.check(of: vector, parties, key))
            #expect(try found == vector.optionalString("check"), "\(name)")
        }
    }

    /// The first check that fails; nil if all hold.
    private static func check(of vector: JSONObject, _ parties: Parties, _ key: PublicKey) throws -> String? {
        let facts = try parties.facts
        let members = try vector.object("transaction").members.map { member in
            TransactionMember(name: member.name, value: try vector.object("transaction").string(member.name))
        }
        let payment = try vector.optionalObject("payment").map { try PaymentExtension(json: $0) }
        let form: AssertionForm =
            try payment.map { payment in
                .payment(
                    try payment.clientData(
                        for: Transaction(members: members), rpId: facts.rpId, origin: facts.issuer.text))
            } ?? .get
        let challenge = try ChallengeCommitment.challenge(
            nonce: vector.base64url("nonce", bytes: 16...64), transaction: vector.object("transaction"))
        let response = try AuthenticationResponse(json: vector.object("credential"))
        let userHandle = try parties.json.base64url("userHandle", bytes: 1...64)
        do throws(VerificationError) {
            _ = try AssertionVerifier.verify(
                response, form: form, publicKey: key, credentialId: facts.credentialId, userHandle: userHandle,
                challenge: challenge, origin: facts.issuer.text,
                rpId: facts.rpId, userVerificationRequired: vector["userVerification"] == "required",
                signCount: .mustRise(above: 41))
            return nil
        } catch { return error.code.rawValue }
    }
}

extension MessageVerdict {
    fileprivate var words: (verdict: String, token: String?) {
        switch self {
        case .notAuthentic(let error): ("notAuthentic", error.rawValue)
        case .unknownKey: ("unknownKey", "kid")
        case .unanswerable(let error): ("unanswerable", error.rawValue)
        case .cancellation: ("cancellation", nil)
        case .request(let request):
            switch request.verdict {
            case .expired: ("expired", "exp")
            case .early: ("early", "iat")
            case .tooEarly: ("tooEarly", "iat")
            case .refused(let refusal): ("refused", refusal.token)
            case .inOrder: ("inOrder", nil)
            }
        }
    }
}
