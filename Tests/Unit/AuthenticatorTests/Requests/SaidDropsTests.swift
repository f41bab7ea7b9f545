import IssuerProtocol
import Keys
import Logging
import ScratchDirectories
import StrictJSON
import Testing
import TextAndTime

@testable import Authenticator
@testable import Records

/// Nothing that the agent drops or ignores is lost without a count and a sentence.
@Suite(.timeLimit(.minutes(20)))
struct SaidDropsTests {
    private let log = WrittenLog()
    private let sample: SampleAgent

    init() throws {
        let bounds = AgentBounds {
            $0.messagesADay = 1
            $0.held = 0
        }
        sample = try SampleAgent(AgentSettings(bounds: bounds, version: "1")).restarted(log: log.logger)
    }

    private func because() -> [String] { log.facts.value.compactMap { $0["because"].map { "\($0)" } } }

    // MARK: Messages

    @Test(arguments: MessageDrop.allCases)
    func `each kind of drop is counted, and said in the log`(drop: MessageDrop) async throws {
        let card = try await sample.enrolled()
        switch drop {
        case .reusedID:
            try await sample.receive(SampleRequest(), for: card)
            try await sample.receive(SampleRequest(merchantName: "another"), for: card)
        case .noRoom:
            let settings = AgentSettings(bounds: AgentBounds { $0.storedBytes = 0 }, version: "1")
            let full = try sample.restarted(settings: settings, log: log.logger)
            try await full.receive(.numbered(1), for: card)
            #expect(await full.agent.figures().drops == [drop: 1])
            return #expect(log.lines(.warning).count == 1)
        case .overQuota: try await sample.receive(.numbered(1), .numbered(2), for: card)
        case .future: try await sample.receive(SampleRequest(iat: 601, exp: 700), for: card)
        case .notAuthentic: try await sample.receive(messages: ["a.b.c"], for: card)
        case .unanswerable: try await sample.receive(SampleRequest(jti: "a/b"), for: card)
        case .notHeld: try await sample.receive(SampleRequest(kid: "another"), for: card)
        case .notAsked:
            let other = try #require(TokenID("another"))
            sample.agent.fetcher.intake.dropNotAsked(other, at: card.enrollment.target.issuer)
        }
        #expect(await sample.agent.figures().drops == [drop: 1])
        #expect(log.lines(.warning).count == 1)
    }

    @Test(arguments: AuthenticityError.allCases)
    func `a message that is not authentic is dropped with the rule that it breaks`(error: AuthenticityError)
        async throws
    {
        let card = try await sample.enrolled()
        guard let message = try message(error, for: card) else { return #expect(error == .cannotTell) }
        try await sample.receive(messages: [message], for: card)
        #expect(because() == [error.sentence])
    }

    @Test(arguments: [true, false])
    func `a dropped message is said in status and doctor if the issuer listed it, until a good one comes`(
        isListed: Bool
    ) async throws {
        let card = try await sample.enrolled()
        let bad = [try #require(try message(.aud, for: card)), try message(.jtiMalformed, for: card)]
        let sentences = [AuthenticityError.aud.sentence, UnanswerableError.jtiMalformed.sentence]
        for (message, sentence) in zip(bad, sentences) {
            let enrollment = try await sample.enrollment(card.id)
            try await sample.agent.fetcher.intake.receive(
                [message], for: enrollment, by: isListed ? .poll : .push, isListed: isListed)
            let trouble = "a request could not be verified: \(sentence)"
            let said = ["enrollment \(card.id): https://issuer.example: \(trouble)"]
            #expect(try await sample.agent.troubles() == (isListed ? said : []))
            let finding = await sample.agent.checkup.findings().first { $0.weakness == .requestUnverified }
            #expect(finding?.message == (isListed ? "enrollment \(card.id): \(trouble)" : nil))
        }
        try await sample.receive(SampleRequest(), for: card)
        #expect(try await sample.agent.troubles().isEmpty)
    }

    @Test func `a pushed message under an unknown key is no trouble of the enrollment, as anyone may have sent it`()
        async throws
    {
        let card = try await sample.enrolled()
        let message = try sample.message(SampleRequest(kid: "another"), for: card)
        let enrollment = try await sample.enrollment(card.id)
        try await sample.agent.fetcher.intake.receive([message], for: enrollment, by: .push, isListed: false)
        #expect(try await sample.agent.troubles().isEmpty)
        try await sample.agent.fetcher.intake.receive([message], for: enrollment, by: .poll)
        #expect(try await sample.agent.troubles().count == 1)
    }

    @Test func `past a number of enrollments the reasons share one text, and room comes back`() throws {
        let health = IssuerHealth(maxOwnTexts: 2)
        let ids = try (0..<3).map { try #require(EnrollmentID("0000000000000000000\($0)")) }
        for id in ids { health.record(id, unverified: "x", at: 0) }
        health.record(ids[0], unverified: "y", at: 0)
        let begin = "a request could not be verified: "
        #expect(ids.map { health.trouble(of: $0) } == [begin + "y", begin + "x", begin + "the log has the reason"])
        health.forget(ids[1])
        #expect(health.trouble(of: ids[1]) == nil && health.counts == [.issuer: 2])
        health.record(ids[2], unverified: "z", at: 0)
        #expect(health.trouble(of: ids[2]) == begin + "z")
    }

    @Test(arguments: UnanswerableError.allCases)
    func `a message that cannot be answered is dropped with the rule that it breaks`(error: UnanswerableError)
        async throws
    {
        let card = try await sample.enrolled()
        try await sample.receive(messages: [message(error, for: card)], for: card)
        #expect(because() == [error.sentence])
    }

    @Test func `no two rules have one sentence`() {
        let sentences = AuthenticityError.allCases.map(\.sentence) + UnanswerableError.allCases.map(\.sentence)
        #expect(Set(sentences).count == sentences.count && !sentences.contains(""))
    }

    // MARK: Keys

    /// A set in which the only key has an x of 31 bytes.
    private func brokenKeys() throws -> JWKSet {
        let x = String(repeating: "A", count: 42)
        return try JWKSet(json: Array(#"{"keys":[{"kty":"EC","crv":"P-256","kid":"key-2","x":"\#(x)"}]}"#.utf8))
    }

    private static let ignored =
        #"the key "key-2" of the issuer's JWK Set is ignored: x has 31 bytes, and P-256 takes 32, with the zeros that "#
        + "it begins with"

    @Test func `an ignored key is said in log, status and doctor until a request is verified`() async throws {
        let card = try await sample.enrolled()
        let (good, broken) = (sample.issuerKeys, try brokenKeys())
        await sample.issuer.onKeys { () throws(IssuerError) in broken }
        try await sample.receive(SampleRequest(kid: "key-2"), for: card)
        // As it waits, and as it is dropped.
        #expect(because() == [Self.ignored, Self.ignored])
        let trouble = "a request could not be verified: \(Self.ignored)"
        #expect(try await sample.agent.troubles() == ["enrollment \(card.id): https://issuer.example: \(trouble)"])
        #expect(await sample.agent.figures().notReady[.issuer] == 1)
        let finding = await sample.agent.checkup.findings().first { $0.weakness == .requestUnverified }
        #expect(finding?.message == "enrollment \(card.id): \(trouble)" && finding?.enrollment == card.id)
        // A poll that goes well says nothing of the key.
        try await sample.agent.fetcher.keep(RequestList(requests: [], cursor: "1"), for: sample.enrollment(card.id))
        #expect(try await sample.agent.troubles().count == 1)

        await sample.issuer.onKeys { () throws(IssuerError) in good }
        sample.clock.advance(by: 60)
        try await sample.receive(SampleRequest(), for: card)
        #expect(try await sample.agent.troubles().isEmpty)
        #expect(await !sample.agent.checkup.findings().contains { $0.weakness == .requestUnverified })
    }

    @Test func `a request that could not be verified is no trouble any more after a day`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(kid: "another"), for: card)
        let health = sample.agent.health
        health.record(card.id, trouble: nil, at: sample.now + 86_399)
        #expect(health.counts[.issuer] == 1)
        health.record(card.id, trouble: nil, at: sample.now + 86_400)
        #expect(health.counts[.issuer] == 0 && health.unverified.isEmpty)
    }

    @Test func `an issuer without a usable key is refused before it gets the code, and said`() async throws {
        let (good, broken) = (sample.issuerKeys, try brokenKeys())
        try await sample.issuer.enrolls()
        await sample.issuer.onKeys { () throws(IssuerError) in broken }
        let parameters = try sample.parameters()
        let error = await #expect(throws: CommandError.self) {
            try await sample.agent.enroll(parameters, patience: 0)
        }
        #expect(error?.code == .issuerRefused && error?.message.contains("x has 31 bytes") == true)
        #expect(await sample.issuer.codes.isEmpty)
        #expect(try await sample.allEnrollments().isEmpty)
        #expect(try await sample.allEnrollments().isEmpty)
        // Once the issuer has corrected its set, the next try succeeds: what was ignored is fetched anew.
        await sample.issuer.onKeys { () throws(IssuerError) in good }
        _ = try? await sample.agent.enroll(parameters, patience: 0)
        #expect(await sample.issuer.codes.count == 1)
    }

    // MARK: Broken messages

    private func signed(_ header: String, _ payload: String, by key: SigningKey? = nil) throws -> String {
        let parts = [header, payload].map { Base64URL.encode(Array($0.utf8)) }
        let input = Array(parts.joined(separator: ".").utf8)
        return CompactJWS.compact(
            signingInput: input, signature: try (key ?? sample.issuerKey).rawSignature(over: input))
    }

    private static let header = #"{"alg":"ES256","kid":"key-1","typ":"oob-authn-request+jwt"}"#

    private func message(_ error: AuthenticityError, for card: SampleEnrollment) throws -> String? {
        switch error {
        case .notJWS: return "a.b.c"
        case .duplicateHeaderName: return try signed(#"{"alg":"ES256","alg":"ES256"}"#, "{}")
        case .alg: return try signed(#"{"alg":"RS256"}"#, "{}")
        case .typ: return try signed(#"{"alg":"ES256","typ":"JWT"}"#, "{}")
        case .crit: return try signed(String(Self.header.dropLast()) + #","crit":["exp"]}"#, "{}")
        case .kid: return try signed(#"{"alg":"ES256","typ":"oob-authn-request+jwt"}"#, "{}")
        case .signature: return try signed(Self.header, "{}", by: SigningKey.generate(.es256))
        case .iss: return try sample.message(SampleRequest(claims: ["iss": "https://other.example"]), for: card)
        case .aud:
            return try sample.message(SampleRequest(claims: ["aud": ["somebody", "else"]]), for: card)
        case .cannotTell: return nil
        }
    }

    private func message(_ error: UnanswerableError, for card: SampleEnrollment) throws -> String {
        switch error {
        case .tooLarge: return String(repeating: "x", count: AuthnRequestReader.maxBytes + 1)
        case .payload: return try signed(Self.header, "[]")
        case .jtiMissing, .jtiTwice:
            let id = try #require(card.enrollment.membership?.authenticatorId.text)
            let jti = error == .jtiTwice ? #","jti":"a","jti":"a""# : ""
            return try signed(Self.header, #"{"iss":"https://issuer.example","aud":"\#(id)"\#(jti)}"#)
        case .jtiMalformed: return try sample.message(SampleRequest(jti: "a/b"), for: card)
        case .malformedCancellation: return try sample.message(SampleCancellation(cancels: "a/b"), for: card)
        }
    }
}
