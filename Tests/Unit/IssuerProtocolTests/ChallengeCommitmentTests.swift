import FoundationEssentials
import IssuerProtocol
import StrictJSON
import Testing
import TextAndTime
import ThreeDS

struct ChallengeCommitmentTests {
    /// Commitments that other software computed.
    private static func vectors() throws -> [JSONObject] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../Fixtures/Vectors/challenge.json")
        let limits = JSONLimits(maxBytes: 1_000_000)
        guard case .array(let elements) = try JSONReader.value([UInt8](try Data(contentsOf: file)), limits: limits)
        else {
            return []
        }
        return elements.compactMap { if case .object(let object) = $0 { object } else { nil } }
    }

    @Test func `every vector's canonical form and challenge are ours`() throws {
        let vectors = try Self.vectors()
        #expect(vectors.count == 28)
        for vector in vectors {
            let transaction = try vector.object("transaction")
            let nonce = try vector.base64url("nonce", bytes: 16...64)
            let jcs = Array(try vector.string("jcs").utf8)
            let challenge = try vector.base64url("challenge", bytes: 32...32)
            #expect(try ChallengeCommitment.transactionBytes(transaction) == jcs)
            #expect(try ChallengeCommitment.challenge(nonce: nonce, transaction: transaction) == challenge)
        }
    }

    @Test func `members in any order and the object give the same challenge`() throws {
        for vector in try Self.vectors() {
            let object = try vector.object("transaction")
            let members = try object.members.reversed().map { member in
                TransactionMember(name: member.name, value: try object.string(member.name))
            }
            let nonce = Array(repeating: UInt8(7), count: 16)
            let challenge = try ChallengeCommitment.challenge(nonce: nonce, transaction: object)
            #expect(try ChallengeCommitment.challenge(nonce: nonce, transaction: members) == challenge)
        }
    }

    private func digest(
        _ changes: [String: String] = [:], userVerification: String = "preferred", payment: PaymentExtension? = nil
    ) throws -> [UInt8] {
        var members = [
            ("acsTransId", "2f37539c-d82e-4929-88db-2f9e72c7fa62"), ("merchantName", "Café"), ("reference", "Ab"),
        ]
        for index in members.indices { members[index].1 = changes[members[index].0] ?? members[index].1 }
        let transaction = try Transaction(members: members.map { TransactionMember(name: $0.0, value: $0.1) })
        return try ChallengeCommitment.transactionDigest(
            transaction, userVerification: userVerification, payment: payment)
    }

    @Test func `the same transaction is the same whatever the case of its acsTransId`() throws {
        #expect(try digest().count == 32)
        #expect(try digest(["acsTransId": "2F37539C-D82E-4929-88DB-2F9E72C7FA62"]) == digest())
    }

    @Test func `any other difference makes another transaction`() throws {
        let digests = try [
            digest(), digest(["acsTransId": "2f37539c-d82e-4929-88db-2f9e72c7fa63"]),
            digest(["merchantName": "Cafe\u{301}"]), digest(["merchantName": "CAFÉ"]), digest(["reference": "ab"]),
            digest(userVerification: "required"), digest(payment: .sample()),
            digest(payment: .sample(payeeOrigin: nil)), digest(payment: .sample(payeeOrigin: "https://b.example")),
            digest(payment: .sample(displayName: "visa 4242")),
            digest(payment: .sample(icon: "https://issuer.example/b")),
        ]
        #expect(Set(digests).count == digests.count)
    }

    @Test func `what a payment extension has besides its members makes no other transaction`() throws {
        var json = try PaymentExtension.sample().json
        json["total"] = ["value": "9.99", "currency": "EUR"]
        #expect(try digest(payment: PaymentExtension(json: json)) == digest(payment: .sample()))
    }

    /// Digests are kept, so a new version must find what an older one has written.
    @Test func `the digest of a transaction in the plain form stays what it is`() throws {
        #expect(Base64URL.encode(try digest()) == "bVkucow8JP_2snWdtlikTQS4G2Aakk3HN6hRcFe6aGc")
    }

    @Test func `a number that has no canonical form is no transaction`() {
        #expect(throws: CommitmentError.notCanonical(RFC8785Error(number: "1.5"))) {
            try ChallengeCommitment.challenge(nonce: [], transaction: ["a": .number("1.5")])
        }
    }
}
