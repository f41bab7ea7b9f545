import IssuerProtocol
import Keys
import StrictJSON
import TextAndTime
import ThreeDS
import WebAuthn

/// What an issuer sends for one enrollment, read as `Tests/Fixtures/Cases` describes it: at one time, by an agent with one key.
enum AuthnRequestChecks {
    private static let now: Int64 = 1_697_522_200

    private struct Setting {
        let facts: EnrollmentFacts
        let key: SigningKey
        let stranger: SigningKey
        var keys: JWKSet { JWKSet(keys: [("key-1", key.publicKey)]) }

        init() throws {
            guard let authenticatorId = TokenID("authenticator-1") else { throw Broken(description: "an id is one") }
            facts = EnrollmentFacts(
                issuer: try IssuerURL("https://issuer.example"), authenticatorId: authenticatorId,
                rpId: "issuer.example", credentialId: Array("credential-1".utf8), canVerifyUser: true,
                exponentPolicy: .warn)
            key = try SigningKey.generate(.es256)
            stranger = try SigningKey.generate(.es256)
        }
    }

    private static let setting = Result { try Setting() }

    /// The bytes are the whole message; nobody signed it.
    static func compactJWS(_ input: [UInt8]) throws {
        let setting = try setting.get()
        let reading = AuthnRequestReader.read(input.text, for: setting.facts, keys: setting.keys, now: now)
        switch reading {
        case .notAuthentic(.cannotTell): throw Broken(description: "a message can always be judged")
        case .notAuthentic, .unknownKey: break
        case .unanswerable(let reason): try mustHold(reason == .tooLarge, "what nobody signed is not read")
        case .request, .cancellation: throw Broken(description: "what nobody signed is no request")
        }
        guard let message = try? CompactJWS.parse(input.text) else { return }
        let whole = CompactJWS.compact(signingInput: message.signingInput, signature: message.signature)
        try mustHold(whole.utf8.elementsEqual(input.text.utf8), "its parts make the message again")
        try mustHold((1...256).contains(message.kid.utf8.count), "a kid is bounded")
    }

    /// The bytes are the claims; they are signed as they are, and once more with the challenge that commits to them.
    static func authnRequest(_ input: [UInt8]) throws {
        try request(input)
        if let committed = committed(input) { try request(committed) }
    }

    /// The bytes are the claims.
    static func cancellation(_ input: [UInt8]) throws {
        let setting = try setting.get()
        let message = try signed(input, type: .cancellation, by: setting.key)
        switch AuthnRequestReader.read(message, for: setting.facts, keys: setting.keys, now: now) {
        case .cancellation(let cancellation):
            try mustHold((1...86_400).contains(cancellation.exp - cancellation.iat), "it lives a day at most")
            let times = [cancellation.iat, cancellation.exp]
            try mustHold(times.allSatisfy(BoundedTime.range.contains), "its times are bounded")
            try mustHold(cancellation.payloadDigest == (try SHA256Digest.of(input)), "its digest is the payload's")
        case .notAuthentic(let reason): try check(reason, input)
        case .unanswerable: break
        case .request, .unknownKey: throw Broken(description: "a cancellation is nothing else")
        }
    }

    private static func request(_ claims: [UInt8]) throws {
        let setting = try setting.get()
        let message = try signed(claims, type: .authnRequest, by: setting.key)
        switch AuthnRequestReader.read(message, for: setting.facts, keys: setting.keys, now: now) {
        case .request(let request):
            try mustHold(request.payloadDigest == (try SHA256Digest.of(claims)), "its digest is the payload's")
            let times = [request.iat, request.exp].compactMap(\.self)
            try mustHold(times.allSatisfy(BoundedTime.range.contains), "its times are bounded")
            try check(request.verdict, setting.facts)
            if case .inOrder = request.verdict { try alterations(message, claims, setting) }
        case .notAuthentic(let reason): try check(reason, claims)
        case .unanswerable: break
        case .cancellation, .unknownKey: throw Broken(description: "an authn request is nothing else")
        }
    }

    private static func check(_ reason: AuthenticityError, _ claims: [UInt8]) throws {
        try mustHold([.iss, .aud].contains(reason) || claims.isEmpty, "its signature holds: \(reason)")
    }

    private static func check(_ verdict: RequestVerdict, _ facts: EnrollmentFacts) throws {
        switch verdict {
        case .inOrder(let request): try check(request, facts)
        case .refused(let refusal):
            try mustBeOneLine(refusal.message, "a refusal's message")
            try mustHold([.invalidRequest, .policy].contains(refusal.reason), "a refusal is no person's decision")
        case .early(let seconds): try mustHold((61...600).contains(seconds), "what is early is held 10 minutes at most")
        case .tooEarly(let seconds): try mustHold(seconds > 600, "what is too early is over 10 minutes ahead")
        case .expired: break
        }
    }

    private static func check(_ request: AuthnRequest, _ facts: EnrollmentFacts) throws {
        try mustHold(request.exp > now && request.iat <= now + 60, "it is presented within its time only")
        try mustHold((1...86_400).contains(request.exp - request.iat), "it lives a day at most")
        try mustHold((16...64).contains(request.nonce.count), "its nonce has 16 to 64 bytes")
        let challenge = try ChallengeCommitment.challenge(
            nonce: request.nonce, transaction: request.transaction.members)
        try mustHold(challenge == request.challenge, "its challenge commits to the transaction")
        try mustHold(challenge == request.options.challenge, "its options have that challenge")
        try mustHold(request.options.rpId == facts.rpId, "its relying party is the enrolled one")
        let named = request.options.allowCredentials
        try mustHold(named.isEmpty || named.contains(facts.credentialId), "it does not name other credentials alone")
        try TransactionChecks.check(request.transaction, payment: request.payment, warnings: request.warnings)
        if let payment = request.payment { try check(payment, of: request, facts) }
    }

    /// The assertion will say what was presented.
    private static func check(_ payment: PaymentExtension, of request: AuthnRequest, _ facts: EnrollmentFacts) throws {
        let data = try payment.clientData(for: request.transaction, rpId: facts.rpId, origin: facts.issuer.text)
        let bytes = ClientData.payment(challenge: request.challenge, origin: facts.issuer.text, data)
        let read = try CollectedClientData.parse(bytes)
        try mustHold(read.payment?.total.value == request.transaction.purchase?.majorUnits, "it signs the amount shown")
        let name = read.payment?.payeeName ?? ""
        try mustHold(name.utf8.elementsEqual(request.transaction.merchantName.utf8), "it signs the merchant shown")
    }

    /// Nothing of a message can be changed, its signer least of all.
    private static func alterations(_ message: String, _ claims: [UInt8], _ setting: Setting) throws {
        var bytes = Array(message.utf8)
        let place = claims.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF } % bytes.count
        bytes[place] = bytes[place] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        for altered in [bytes.text, try signed(claims, type: .authnRequest, by: setting.stranger)] {
            switch AuthnRequestReader.read(altered, for: setting.facts, keys: setting.keys, now: now) {
            case .notAuthentic, .unknownKey: break
            default: throw Broken(description: "an altered message is not authentic (byte \(place))")
            }
        }
    }

    private static func signed(
        _ claims: [UInt8], type: CompactJWS.MessageType, by key: SigningKey
    ) throws -> String {
        let input = CompactJWS.signingInput(kid: "key-1", typ: type.rawValue, payload: claims)
        return CompactJWS.compact(signingInput: input, signature: try key.rawSignature(over: input))
    }

    /// The same claims with the challenge that belongs to them; nil where there is no place for one.
    private static func committed(_ claims: [UInt8]) -> [UInt8]? {
        let limits = JSONLimits(maxBytes: AuthnRequestReader.maxBytes)
        guard var object = try? JSONReader.object(claims, limits: limits),
            let nonce = try? object.base64url("nonce", bytes: 0...128),
            let transaction = try? object.object("transaction"), var options = try? object.object("publicKey"),
            let challenge = try? ChallengeCommitment.challenge(nonce: nonce, transaction: transaction)
        else { return nil }
        options["challenge"] = .string(Base64URL.encode(challenge))
        object["publicKey"] = .object(options)
        return object.serialized()
    }
}
