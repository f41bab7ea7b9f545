import IssuerProtocol
import StrictJSON
import Testing

@testable import Authenticator
@testable import Records

/// No time that an issuer writes can stop the agent, by whatever way it comes.
@Suite(.timeLimit(.minutes(20)))
struct ExtremeTimesTests {
    static let times: [JSONValue] = [
        .integer(.min), .integer(.min + 1), -1, 0, 253_402_300_799, 253_402_300_800, .integer(.max - 1), .integer(.max),
        .number("9223372036854775808"), .number("1e400"), .number("1.0"), .number("-0"), "1700000000", .null,
    ]
    /// Each is sent alone, and as both.
    static let claims: [JSONObject] = times.flatMap { time -> [JSONObject] in
        [["iat": time], ["exp": time], ["iat": time, "exp": time]]
    }

    private func messages(
        with claims: JSONObject, to sample: SampleAgent, for card: SampleEnrollment
    ) throws -> [String] {
        var request = SampleRequest.numbered(2)
        request.claims = claims
        var cancellation: JSONObject = [
            "iss": .string(card.enrollment.target.issuer.text), "aud": "authenticator-card", "jti": "cancellation-2",
            "iat": .integer(sample.now), "exp": .integer(sample.now + 600), "cancels": "request-1",
        ]
        for claim in claims.members { cancellation[claim.name] = claim.value }
        return [
            try sample.message(request, for: card),
            try SampleRequest.signed(cancellation, typ: "oob-authn-cancel+jwt", kid: "key-1", by: sample.issuerKey),
        ]
    }

    @Test(arguments: claims)
    func `a message with this time ends nothing, by poll after a push and by push`(_ claims: JSONObject) async throws {
        let push = try SamplePush()
        let sample = try SampleAgent(SamplePush.settings())
        let (card, subscription) = try await sample.subscribed(push)
        // Pushes come from now on, so that a poll looks how late a message is.
        _ = try await sample.push(Array("hint".utf8), to: subscription, by: push)
        let enrollment = try await sample.enrollment(card.id)
        for message in try messages(with: claims, to: sample, for: card) {
            try await sample.agent.fetcher.intake.receive([message], for: enrollment, by: .poll)
        }
        var byPush = claims
        byPush["jti"] = "pushed"
        for message in try messages(with: byPush, to: sample, for: card) {
            _ = try await sample.push(Array(message.utf8), to: subscription, by: push)
        }
        try await sample.receive(.numbered(1), for: card)
        let pending = try await sample.requests().filter { $0.life == .pending }
        #expect(pending.map(\.jti.text) == ["request-1"], "the next one is presented as ever")
        for request in try await sample.requests() { _ = try await sample.agent.text(of: request) }
        _ = await sample.agent.figures()
    }
}
