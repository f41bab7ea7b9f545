import IssuerProtocol
import Keys
import StoreTables
import StrictJSON
import Testing
import TextAndTime
import ThreeDS

@testable import Authenticator
@testable import Records

/// Each refusal is counted, and said in a sentence: to the issuer as a denial, to the operator in the log.
@Suite(.timeLimit(.minutes(20)))
struct SaidRefusalsTests {
    private let log = WrittenLog()
    private let sample: SampleAgent

    init() throws {
        let bounds = AgentBounds { $0.undecided = 1 }
        sample = try SampleAgent(AgentSettings(bounds: bounds, version: "1")).restarted(log: log.logger)
    }

    /// Looks for one refusal with this token, wherever one is told.
    private func expectSaid(_ token: String, reason: DenyReason, for card: SampleEnrollment) async throws {
        let life = try await sample.requests().map(\.life).last
        #expect(life == .refused(token: token, reason: reason))
        #expect(await sample.agent.figures().work.refusals.counts.filter { $0.value > 0 } == [token: 1])
        guard case .deny(reason)? = try await sample.outbox(of: card).last?.decision else {
            Issue.record("the issuer is not told")
            return
        }
        let said = log.facts.value.compactMap { $0["refusal"].map { "\($0)" } }
        #expect(said.count == 1 && said.first?.hasPrefix("\(token): ") == true, "\(said)")
        // A token of its own is no sentence.
        #expect(said.first?.split(separator: " ").count ?? 0 > 3, "\(said)")
    }

    @Test(arguments: RequestRefusal.Rule.allCases)
    func `a request that breaks a rule is refused with the rule`(rule: RequestRefusal.Rule) async throws {
        let card = try await sample.enrolled()
        try await sample.receive(messages: [message(rule, for: card)], for: card)
        try await expectSaid(
            rule.rawValue, reason: rule == .userVerification ? .policy : .invalidRequest, for: card)
    }

    /// A name that is there twice is found before the transaction is looked at.
    @Test(arguments: TransactionRefusal.Code.allCases.filter { $0 != .duplicateMember })
    func `a transaction that breaks a rule is refused with the rule`(code: TransactionRefusal.Code) async throws {
        let card = try await sample.enrolled()
        let message = try message(for: card) { claims in
            claims["transaction"] = .object(transaction(code))
        }
        try await sample.receive(messages: [message], for: card)
        try await expectSaid(code.rawValue, reason: code.isPolicy ? .policy : .invalidRequest, for: card)
    }

    @Test(arguments: RequestAdmission.Refusal.allCases)
    func `a request that others stand against is refused with the reason`(
        refusal: RequestAdmission.Refusal
    ) async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), for: card)
        switch refusal {
        case .tooManyUndecided: try await sample.receive(.numbered(2), for: card)
        case .tooManyBytes:
            let stored = try await sample.store.real.read { try $0.storedTally(of: card.id, since: 0, until: .max) }
                .bytesOfIssuer
            let settings = AgentSettings(bounds: AgentBounds { $0.storedBytes = stored }, version: "1")
            try await sample.restarted(settings: settings, log: log.logger).receive(.numbered(2), for: card)
        case .conflict:
            var other = SampleRequest.numbered(1)
            (other.jti, other.merchantName) = ("request-2", "another")
            try await sample.receive(other, for: card)
        }
        try await expectSaid(
            "\(refusal)", reason: refusal == .conflict ? .invalidRequest : .policy, for: card)
    }

    // MARK: Broken requests

    /// A request in order but for a change; its challenge commits to the changed transaction.
    private func message(
        for card: SampleEnrollment, _ change: (inout JSONObject) throws -> Void
    ) throws -> String {
        let request = SampleRequest()
        let enrollment = card.enrollment
        let id = try #require(enrollment.membership?.authenticatorId.text)
        var claims: JSONObject = [
            "iss": .string(enrollment.target.issuer.text), "aud": .string(id), "jti": "request-1",
            "iat": .integer(SampleAgent.start), "exp": .integer(SampleAgent.start + 600),
            "nonce": .string(Base64URL.encode(request.nonce)), "transaction": .object(request.transaction),
        ]
        var options: JSONObject = ["rpId": .string(request.rpId)]
        claims["publicKey"] = .object(options)
        try change(&claims)
        if case .object(let transaction)? = claims["transaction"], case .object(let changed)? = claims["publicKey"] {
            options = changed
            let challenge = try ChallengeCommitment.challenge(nonce: request.nonce, transaction: transaction)
            if options["challenge"] == nil { options["challenge"] = .string(Base64URL.encode(challenge)) }
            claims["publicKey"] = .object(options)
        }
        return try SampleRequest.signed(claims, typ: "oob-authn-request+jwt", kid: "key-1", by: sample.issuerKey)
    }

    private func message(_ rule: RequestRefusal.Rule, for card: SampleEnrollment) throws -> String {
        let start = SampleAgent.start
        let (rpId, zeros): (JSONValue, JSONValue) = (
            "issuer.example", .string(Base64URL.encode(Array(repeating: 0, count: 32)))
        )
        if rule == .duplicateName { return try messageWithATwin(for: card) }
        return try message(for: card) { claims in
            switch rule {
            case .expMissing: claims["exp"] = nil
            case .expNotInteger: claims["exp"] = "soon"
            case .iatMissing: claims["iat"] = nil
            case .iatNotInteger: claims["iat"] = "now"
            case .expNotAfterIat: (claims["iat"], claims["exp"]) = (.integer(start + 30), .integer(start + 30))
            case .lifetimeTooLong: claims["exp"] = .integer(start + 86_401)
            case .duplicateName: break
            case .jtiReserved: claims["jti"] = "next"
            case .nonce: claims["nonce"] = "AAAA"
            case .publicKey: claims["publicKey"] = "none"
            case .rpId: claims["publicKey"] = ["rpId": "other.example"]
            case .allowCredentials:
                claims["publicKey"] = ["rpId": rpId, "allowCredentials": [["type": "public-key", "id": "AAAA"]]]
            case .paymentExtension:
                claims["publicKey"] = ["rpId": rpId, "extensions": ["payment": ["isPayment": false]]]
            case .transactionMissing: claims["transaction"] = nil
            case .commitment: claims["publicKey"] = ["rpId": rpId, "challenge": zeros]
            case .userVerification: claims["publicKey"] = ["rpId": rpId, "userVerification": "required"]
            }
        }
    }

    private func messageWithATwin(for card: SampleEnrollment) throws -> String {
        let start = SampleAgent.start
        let id = try #require(card.enrollment.membership?.authenticatorId.text)
        let payload = """
            {"iss":"https://issuer.example","aud":"\(id)","jti":"request-1","iat":\(start),"exp":\(start + 600),\
            "nonce":"AAAA","nonce":"AAAA"}
            """
        let input = CompactJWS.signingInput(
            kid: "key-1", typ: "oob-authn-request+jwt", payload: Array(payload.utf8))
        return CompactJWS.compact(signingInput: input, signature: try sample.issuerKey.rawSignature(over: input))
    }

    private func transaction(_ code: TransactionRefusal.Code) -> JSONObject {
        var transaction = SampleRequest().transaction
        let long = JSONValue.string(String(repeating: "x", count: 1_000))
        switch code {
        case .tooManyMembers: for number in 0..<10 { transaction["member-\(number)"] = "x" }
        case .memberName: transaction["a name"] = "x"
        case .duplicateMember: break
        case .nonStringValue: transaction["other"] = 1
        case .memberTooLong: transaction["other"] = .string(String(repeating: "x", count: 1_025))
        case .membersTooLong: for number in 0..<5 { transaction["member-\(number)"] = long }
        case .memberMissing: transaction["merchantName"] = nil
        case .purchaseIncomplete: transaction["purchaseDate"] = nil
        case .acsTransId, .merchantName, .purchaseAmount, .purchaseCurrency, .purchaseExponent, .purchaseDate,
            .threeDSRequestorAppURL:
            transaction[code.rawValue] = ""
        case .currencyUnknown: transaction["purchaseCurrency"] = "000"
        case .currencyNotAllowed: transaction["purchaseCurrency"] = "999"
        case .exponentMismatch: transaction["purchaseExponent"] = "3"
        case .exponentUndefined: transaction["purchaseCurrency"] = "994"
        }
        return transaction
    }
}
