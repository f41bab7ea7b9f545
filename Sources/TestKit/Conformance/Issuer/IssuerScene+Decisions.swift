import IssuerProtocol
import Keys
import StrictJSON
import TextAndTime
import WebAuthn
import WrongAssertions

extension IssuerScene {
    mutating func decide(_ order: IssuerStep.DecisionOrder, _ step: IssuerStep) async throws {
        let known = try known(order.request)
        guard let request = known.listed else {
            throw CaseEnd.broken("the case decides on \(order.request), which was not listed")
        }
        let body = try decisionBody(order, on: request, by: known.cardholder)
        requests[order.request]?.lastDecision = body
        let jti = order.jti ?? request.jti.text
        let answer = try await ask(
            "POST", try await discovered().authnRequestsEndpoint + "/\(jti)/decision",
            token: try token(order.token, of: known.cardholder), body: body)
        try verify(answer, to: Self.sentence(order), step.expected, usual: 200)
        guard answer.status == 200 else { return }
        let status: TransStatus
        do { status = try DecisionAnswer(bytes: answer.body).transStatus } catch {
            throw CaseEnd.failed("the answer to a decision is not in order: \(error); section 10")
        }
        let wanted = step.expected.transStatus ?? (order.isApproval ? "Y" : "N")
        guard status.rawValue == wanted else {
            throw CaseEnd.failed(
                "answered transStatus \(status.rawValue) to \(Self.sentence(order)); section 10 says \(wanted)")
        }
        if order.isApproval, let signCount = cardholders[known.cardholder]?.signCount {
            cardholders[known.cardholder]?.acceptedSignCount = signCount
        }
    }

    private mutating func decisionBody(
        _ order: IssuerStep.DecisionOrder, on request: AuthnRequest, by name: String
    ) throws -> [UInt8] {
        if let body = order.body { return Array(body.utf8) }
        if order.again || order.replay != nil {
            guard let bytes = try known(order.replay ?? order.request).lastDecision else {
                throw CaseEnd.broken("the case sends a decision again that it has not sent")
            }
            return bytes
        }
        guard order.isApproval else {
            // The reason is sent as written, even if it is not one of the protocol's.
            let body: JSONObject = ["decision": "deny", "reason": .string(order.reason)]
            return body.serialized()
        }
        return try approval(order, of: request, by: name)
    }

    private mutating func approval(
        _ order: IssuerStep.DecisionOrder, of request: AuthnRequest, by name: String
    ) throws -> [UInt8] {
        let cardholder = try cardholder(name)
        guard let options = cardholder.options?.options else {
            throw CaseEnd.broken("the case's cardholder \(name) is not enrolled yet")
        }
        // A signCount is never signed twice, even if the earlier assertion failed.
        let signCount = max(cardholder.signCount, cardholder.acceptedSignCount) + 1
        let honest = WrongAssertion.Truth(
            rpId: options.rpId, origin: issuer.url.text, userHandle: options.userId, nonce: request.nonce,
            transaction: request.transaction, payment: request.payment, signCount: signCount,
            flags: order.isVerified ? [.userPresent, .userVerified] : [.userPresent])
        let content = try order.wrong.content(of: honest)
        let key = order.wrong == .wrongKey ? try SigningKey.generate(cardholder.key.algorithm) : cardholder.key
        let signature = order.wrong.sent(try key.signature(over: try content.signed))
        if order.wrong == .none { cardholders[name]?.signCount = signCount }
        return DecisionBody.approve(
            AuthenticationResponse(
                credentialId: cardholder.credentialId, clientDataJSON: content.clientDataJSON,
                authenticatorData: content.authenticatorData, signature: signature, userHandle: content.userHandle))
    }

    private static func sentence(_ order: IssuerStep.DecisionOrder) -> String {
        if order.body != nil { return "a decision that is no JSON of the protocol" }
        if order.again { return "the same decision again" }
        if order.replay != nil { return "an assertion of an earlier request" }
        if order.jti != nil { return "a decision on an unknown jti" }
        guard order.isApproval else { return "a deny with the reason \(order.reason)" }
        return switch order.wrong {
        case .none: order.isVerified ? "an approval" : "an approval without user verification"
        case .badSignature: "an assertion whose signature has one bit changed"
        case .wrongKey: "an assertion signed by another key"
        case .wrongChallenge: "an assertion with another challenge"
        case .alteredAmount: "an assertion over ten times the amount"
        case .wrongOrigin: "an assertion with another origin"
        case .wrongRpIdHash: "an assertion with another rpIdHash"
        case .wrongUserHandle: "an assertion with another userHandle"
        case .noUserPresence: "an assertion without the flag UP"
        case .noUserVerification: "an assertion without the flag UV"
        case .counterRegression: "an assertion whose signCount is not greater than the last"
        case .zeroCounter: "an assertion whose signCount is 0"
        case .malformedAssertion: "an assertion whose authenticator data is a byte short"
        case .crossOrigin: "an assertion that was made in a frame of another origin"
        }
    }

    // MARK: The bank's side

    func cancel(_ name: String) async throws {
        _ = try await issuer.output("cancel", try purchaseInput(name), wire: wire, trace: trace)
    }

    func outcome(of name: String, _ step: IssuerStep) async throws {
        guard let wanted = step.expected.transStatus else {
            throw CaseEnd.broken("\(step.place): `outcome` needs `expect: {transStatus: Y or N}`")
        }
        let said: String?
        if issuer.has("outcome") {
            said = Self.transStatus(
                of: try await issuer.output("outcome", try purchaseInput(name), wire: wire, trace: trace))
        } else {
            said = try await purchaseOutcome(name)
        }
        guard said == wanted else {
            throw failed(
                "the outcome of the purchase is \(said.map { EscapedText.of($0) } ?? "not told") and not \(wanted)")
        }
    }

    /// Returns the outcome that the purchase command has printed at its end.
    private func purchaseOutcome(_ name: String) async throws -> String? {
        let output = try known(name).output
        for _ in 0..<100 {
            if let value = try output.value {
                guard let status = Self.transStatus(of: value) else { break }
                return status
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw CaseEnd.notShown("there is no command for `outcome`, and `purchase` does not print a transStatus")
    }

    private static func transStatus(of output: CommandOutput) -> String? {
        if let object = output.object { return try? object.string("transStatus") }
        return output.text.count == 1 ? output.text : nil
    }

    private func purchaseInput(_ name: String) throws -> JSONObject {
        let known = try known(name)
        var input: JSONObject = [
            "authenticatorId": .string(try member(known.cardholder).1.authenticatorId.text),
            "acsTransId": .string(known.acsTransId),
            "purchase": try known.output.value?.json ?? nil,
        ]
        input["jti"] = known.listed.map { .string($0.jti.text) }
        return input
    }
}
