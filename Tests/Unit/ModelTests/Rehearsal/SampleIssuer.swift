import IssuerProtocol
import Keys
import Records
import StrictJSON
import TextAndTime
import WebAuthn

/// The issuer's side of what a schedule lists: its key, its cards, and messages as they go over the wire.
///
/// Its keys are made once for all schedules.
final class SampleIssuer: Sendable {
    struct Card: Sendable {
        let id: EnrollmentID
        let key: SigningKey
        let credentialId: [UInt8]
        let token: String
        let authenticatorId: TokenID
    }

    /// A fault of the test.
    struct CannotMake: Error {}

    static let issuer = "https://issuer.example"
    static let rpId = "issuer.example"

    let key: SigningKey
    private let otherKey: SigningKey
    /// The secret of the agent that they are enrolled with.
    let agentSecret: AgentSecret
    let cards: [Card]

    init(cards count: Int) throws {
        key = try SigningKey.generate(.es256)
        otherKey = try SigningKey.generate(.es256)
        agentSecret = try AgentSecret.generate()
        cards = try (0..<count).map { number in
            guard let id = EnrollmentID(String(repeating: "\(number)", count: 20)),
                let authenticatorId = TokenID("authenticator-\(number)")
            else { throw CannotMake() }
            return Card(
                id: id, key: try SigningKey.generate(.es256), credentialId: Array(repeating: UInt8(number), count: 16),
                token: "token-\(number)", authenticatorId: authenticatorId)
        }
    }

    var keySet: JWKSet { JWKSet(keys: [("key-1", key.publicKey)]) }

    static func name(_ jti: Int) -> String { "jti-\(jti)-" }

    static func number(_ jti: String) -> Int? { Int(jti.dropFirst(4).dropLast()) }

    /// The compact JWS of a message for a card.
    func text(_ message: Message, for card: Int) throws -> String {
        switch message {
        case .request(let request): try text(request, for: cards[card])
        case .cancellation(let cancellation): try text(cancellation, for: cards[card])
        }
    }

    private func text(_ request: PlannedRequest, for card: Card) throws -> String {
        var claims = Self.claims(card, jti: request.jti, iat: request.iat, exp: request.exp)
        if request.flaw == .jti { claims["jti"] = "not of its form" }
        claims["nonce"] = .string(Base64URL.encode(try request.nonce))
        claims["transaction"] = .object(request.transactionJSON)
        claims["publicKey"] = .object(try request.options(credentialId: card.credentialId))
        return try Self.signed(
            claims, typ: "oob-authn-request+jwt", by: request.flaw == .signature ? otherKey : key)
    }

    private func text(_ cancellation: PlannedCancellation, for card: Card) throws -> String {
        // Its own iat plays no part but that exp must be after it.
        var claims = Self.claims(card, jti: cancellation.jti, iat: min(0, cancellation.exp - 1), exp: cancellation.exp)
        claims["cancels"] = .string(Self.name(cancellation.cancels))
        return try Self.signed(claims, typ: "oob-authn-cancel+jwt", by: key)
    }

    private static func claims(_ card: Card, jti: Int, iat: Int64, exp: Int64) -> JSONObject {
        [
            "iss": .string(issuer), "aud": .string(card.authenticatorId.text), "jti": .string(name(jti)),
            "iat": .integer(ScheduleClock.start + iat), "exp": .integer(ScheduleClock.start + exp),
        ]
    }

    private static func signed(_ claims: JSONObject, typ: String, by key: SigningKey) throws -> String {
        let input = CompactJWS.signingInput(kid: "key-1", typ: typ, payload: claims.serialized())
        return CompactJWS.compact(signingInput: input, signature: try key.rawSignature(over: input))
    }

    /// The signCount of an approval that holds for this request and nothing else; throws if it does not hold.
    func verify(_ body: [UInt8], answers request: PlannedRequest, of card: Int) throws -> UInt32 {
        guard case .approve(let response) = try DecisionMessage(bytes: body) else { throw CannotMake() }
        return try AssertionVerifier.verify(
            response, form: request.form, publicKey: cards[card].key.publicKey,
            credentialId: cards[card].credentialId, challenge: try request.challenge, origin: Self.issuer,
            rpId: Self.rpId, userVerificationRequired: false, signCount: .notChecked)
    }
}
