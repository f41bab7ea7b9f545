#if Personas
import Custody
import IssuerProtocol
import Keys
import ScratchDirectories
import StrictJSON
import Testing
import TextAndTime
import ThreeDS
import WebAuthn
import WrongAssertions

@testable import Records
@testable import Signing
@testable import Personas

/// Each wrong assertion against the right one: what of it is wrong, and that its signature holds all the same.
struct WrongAssertionTests {
    private static let signCount: UInt32 = 5

    private struct Scene {
        let approval: TestApproval
        let publicKey: PublicKey
        let directory: ScratchDirectory

        func response(_ wrong: WrongAssertion) async throws -> AuthenticationResponse {
            guard case .approve(let response) = try DecisionMessage(bytes: try await wrong.body(of: approval)) else {
                throw CancellationError()
            }
            return response
        }

        func holds(_ response: AuthenticationResponse) throws -> Bool {
            let signed = response.authenticatorData + (try SHA256Digest.of(response.clientDataJSON))
            return try publicKey.isValid(signature: response.signature, over: signed)
        }
    }

    private func scene(
        payment: PaymentExtension? = nil, signCount: UInt32 = signCount
    ) async throws -> Scene {
        let directory = try ScratchDirectory()
        let (approval, publicKey) = try await approval(.test, in: directory, payment: payment, signCount: signCount)
        return Scene(approval: try #require(approval), publicKey: publicKey, directory: directory)
    }

    private func approval(
        _ authnType: AuthnType, in directory: ScratchDirectory, payment: PaymentExtension? = nil,
        signCount: UInt32 = signCount
    ) async throws -> (TestApproval?, PublicKey) {
        let custody = SealedKeyCustody(secret: try AgentSecret.generate())
        let id = try #require(EnrollmentID("0123456789abcdef0123"))
        let made = try await custody.makeKey(of: id, algorithm: .es256, pin: nil)
        let enrollment = Enrollment(
            id: id, target: IssuerTarget(issuer: try IssuerURL(written: "http://localhost:8080"), rootsPEM: nil),
            name: "card", authnType: authnType, algorithm: -7, rpId: "localhost", credentialId: [1, 2, 3],
            userHandle: [4], startedAt: 0, credentialKey: made.publicKey, sealedKey: made.sealed,
            signCount: signCount - 1, state: .enrolling(body: []))
        let transaction = try Transaction(
            members: [
                ("acsTransId", "8a880dc0-d2d2-4067-bcb1-b08d1690b26e"), ("merchantName", "CoffeeHouse2"),
                ("purchaseAmount", "100"), ("purchaseCurrency", "840"), ("purchaseExponent", "2"),
                ("purchaseDate", "20260101120000"),
            ].map { TransactionMember(name: $0.0, value: $0.1) })
        let presented = PresentedRequest(
            transaction: transaction, payment: payment, transactionDigest: [], nonce: Array(repeating: 7, count: 32),
            warnings: [])
        let request = RequestRecord(
            id: try #require(RequestID("0123456789abcdef0123")), enrollmentId: id, jti: try #require(TokenID("a")),
            iat: 0, exp: 600, presented: presented, acsTransId: nil, message: "", traceparent: nil, receivedAt: 0,
            life: .pending)
        let key = try await custody.unlock(enrollment.keyReference, pin: nil)
        return (TestApproval(request, of: enrollment, signCount: signCount, with: key), made.publicKey)
    }

    /// What is wrong of each, by the name of what differs from the right one.
    private static let differences: [(WrongAssertion, Set<String>)] = [
        (.wrongChallenge, ["challenge"]), (.alteredAmount, ["challenge"]), (.wrongOrigin, ["origin"]),
        (.wrongRpIdHash, ["rpIdHash"]), (.wrongUserHandle, ["userHandle"]), (.noUserPresence, ["flags"]),
        (.noUserVerification, ["flags"]), (.counterRegression, ["signCount"]), (.zeroCounter, ["signCount"]),
        (.crossOrigin, ["crossOrigin"]), (.badSignature, []), (.wrongKey, []),
    ]

    private func parts(_ response: AuthenticationResponse) throws -> [String: String] {
        let client = try JSONReader.object(response.clientDataJSON, limits: JSONLimits(maxBytes: 4_096))
        let data = try AuthenticatorData.parse(response.authenticatorData)
        return [
            "challenge": try client.string("challenge"), "origin": try client.string("origin"),
            "crossOrigin": "\(try client.bool("crossOrigin"))", "type": try client.string("type"),
            "rpIdHash": "\(data.rpIdHash)", "flags": "\(data.flags.rawValue)", "signCount": "\(data.signCount)",
            "userHandle": "\(response.userHandle ?? [])", "credentialId": "\(response.credentialId)",
        ]
    }

    @Test(arguments: differences)
    func `only what its name says is wrong, and it is signed all the same`(
        wrong: WrongAssertion, names: Set<String>
    ) async throws {
        let scene = try await scene()
        let (right, response) = (try await scene.response(.none), try await scene.response(wrong))
        #expect(try scene.holds(right))
        let (rightParts, wrongParts) = (try parts(right), try parts(response))
        #expect(Set(rightParts.keys.filter { rightParts[$0] != wrongParts[$0] }) == names)
        let isSigned = wrong != .badSignature && wrong != .wrongKey
        #expect(try scene.holds(response) == isSigned)
    }

    @Test func `the right one has the flags, number and challenge of an honest approval`() async throws {
        let scene = try await scene()
        let told = try parts(try await scene.response(.none))
        let challenge = try ChallengeCommitment.challenge(
            nonce: scene.approval.presented.nonce, transaction: scene.approval.presented.transaction.members)
        #expect(told["challenge"] == Base64URL.encode(challenge))
        #expect(told["signCount"] == "5")
        #expect(told["flags"] == "5")
    }

    @Test func `malformed authenticator data is too short to be read`() async throws {
        let scene = try await scene()
        let response = try await scene.response(.malformedAssertion)
        #expect(response.authenticatorData.count == 36)
        #expect(throws: AuthenticatorDataError.self) { try AuthenticatorData.parse(response.authenticatorData) }
    }

    @Test func `an altered amount is that of challenge and total alike`() async throws {
        let asked = try PaymentExtension(
            json: [
                "isPayment": true, "payeeOrigin": "https://merchant.example",
                "instrument": ["displayName": "Card", "icon": "https://issuer.example/card.png"],
            ])
        let scene = try await scene(payment: asked)
        let client = { (response: AuthenticationResponse) in String(decoding: response.clientDataJSON, as: UTF8.self) }
        #expect(client(try await scene.response(.none)).contains(#""value":"1.00""#))
        #expect(client(try await scene.response(.alteredAmount)).contains(#""value":"10.00""#))
    }

    @Test func `the counter of a first approval cannot fall, so it does not`() async throws {
        let scene = try await scene(signCount: 1)
        #expect(try parts(try await scene.response(.counterRegression))["signCount"] == "1")
        #expect(try parts(try await scene.response(.zeroCounter))["signCount"] == "0")
    }

    @Test(arguments: [AuthnType.presence, .pin])
    func `nothing is signed for an enrollment that is not authnType test`(authnType: AuthnType) async throws {
        #expect(try await approval(authnType, in: ScratchDirectory()).0 == nil)
    }

    @Test func `each persona of the group wrong has something wrong, and no other has`() {
        for persona in Persona.allCases where persona != .oldAssertion {
            #expect((persona.wrong != nil) == (persona.group == .wrong), "\(persona)")
        }
    }
}
#endif
