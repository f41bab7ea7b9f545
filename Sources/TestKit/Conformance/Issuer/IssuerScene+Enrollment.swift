import IssuerProtocol
import Keys
import StrictJSON
import TextAndTime
import WebAuthn

extension IssuerScene {
    mutating func options(_ choice: IssuerStep.CodeChoice, _ step: IssuerStep) async throws {
        let code: String
        switch choice {
        case .new: code = try await issuer.code(wire: wire, trace: trace)
        case .used:
            guard let used = try cardholder(step.cardholder).lastCode else {
                throw CaseEnd.broken("the case has used no code yet")
            }
            code = used
        case .text(let text): code = text
        }
        if cardholders[step.cardholder] == nil {
            cardholders[step.cardholder] = try Cardholder(name: step.cardholder, algorithm: .es256)
        }
        cardholders[step.cardholder]?.lastCode = code
        let body: JSONObject = ["enrollmentCode": .string(code)]
        let answer = try await ask(
            "POST", try await discovered().enrollmentOptionsEndpoint, body: body.serialized())
        try verify(answer, to: "an enrollment code", step.expected, usual: 200)
        guard answer.status == 200 else { return }
        let options = try creationOptions(answer.body)
        cardholders[step.cardholder]?.options = options
    }

    private func creationOptions(_ body: [UInt8]) throws -> EnrollmentOptionsAnswer {
        let options: EnrollmentOptionsAnswer
        do { options = try EnrollmentOptionsAnswer(bytes: body, from: issuer.url) } catch {
            throw CaseEnd.failed("the creation options are not in order: \(error); section 4.1")
        }
        guard issuer.url.permits(rpId: options.options.rpId) else {
            throw CaseEnd.failed(
                "rp.id \(EscapedText.of(options.options.rpId)) is neither the issuer's host nor a parent domain of it; section 4.1"
            )
        }
        guard options.options.pubKeyCredParams.contains(-7) else {
            throw CaseEnd.failed("pubKeyCredParams has no ES256 (-7); section 4.1")
        }
        return options
    }

    mutating func register(_ order: IssuerStep.Registration, _ step: IssuerStep) async throws {
        let name = step.cardholder
        let body = try registration(order, of: name)
        cardholders[name]?.registration = body
        let answer = try await ask("POST", try await discovered().enrollmentsEndpoint, body: body)
        var expected = step.expected
        if order.again, !expected.isGiven {
            // The answer must be the same as the first one.
            guard let before = cardholders[name]?.registrationAnswer else {
                throw CaseEnd.broken("the case registers again what it has not registered")
            }
            expected.statuses = [201]
            try verify(answer, to: "the same registration again", expected, usual: 201)
            guard (try? EnrollmentAnswer(bytes: answer.body).json) == (try? EnrollmentAnswer(bytes: before).json) else {
                throw CaseEnd.failed("answered the same registration otherwise than before; section 4.2 says the same")
            }
            return
        }
        let what = order.wrong == .none ? "a registration" : "a registration with \(order.wrong.rawValue)"
        try verify(answer, to: what, expected, usual: 201)
        guard answer.status == 201 else { return }
        do {
            cardholders[name]?.membership = try EnrollmentAnswer(bytes: answer.body)
            cardholders[name]?.registrationAnswer = answer.body
        } catch { throw CaseEnd.failed("the answer to the registration is not in order: \(error); section 4.2") }
    }

    private func registration(_ order: IssuerStep.Registration, of name: String) throws -> [UInt8] {
        let cardholder = try cardholder(name)
        if order.again {
            guard let bytes = cardholder.registration else {
                throw CaseEnd.broken("the case registers again what it has not registered")
            }
            return bytes
        }
        guard let options = cardholder.options else {
            throw CaseEnd.broken("the case registers without creation options: a step `options` gets them")
        }
        if order.wrong == .badAttestation, options.options.attestation == .none {
            throw CaseEnd.notShown("the issuer asks for no attestation")
        }
        return try order.wrong.body(
            of: cardholder.key, credentialId: cardholder.credentialId, options: options, issuer: issuer.url,
            name: order.changed ? "another name" : "oob-conform",
            pushSubscription: try order.pushEndpoint.map { try Self.subscription($0) })
    }

    /// Plays a whole enrollment: code, options and registration.
    ///
    /// Code and options must have their usual answers, and the registration the answer that the case expects.
    mutating func enroll(_ order: IssuerStep.Registration, _ step: IssuerStep) async throws {
        guard let algorithm = SignatureAlgorithm(rawValue: order.algorithm) else {
            throw CaseEnd.notShown("the kit has no algorithm \(order.algorithm)")
        }
        cardholders[step.cardholder] = try Cardholder(name: step.cardholder, algorithm: algorithm)
        try await options(
            .new,
            IssuerStep(
                action: step.action, cardholder: step.cardholder, expected: Expectation(), place: step.place))
        if let options = cardholders[step.cardholder]?.options?.options,
            !options.pubKeyCredParams.contains(order.algorithm)
        {
            throw CaseEnd.notShown("the issuer does not offer the algorithm \(order.algorithm)")
        }
        try await register(order, step)
    }

    // MARK: The authenticator

    mutating func status(_ choice: IssuerStep.TokenChoice, _ step: IssuerStep) async throws {
        let answer = try await ask(
            "GET", try await discovered().authenticatorEndpoint, token: try token(choice, of: step.cardholder))
        try verify(answer, to: "GET authenticatorEndpoint", step.expected, usual: 200)
        guard answer.status == 200 else { return }
        let (cardholder, membership) = try member(step.cardholder)
        let status: AuthenticatorStatus
        do { status = try AuthenticatorStatus(bytes: answer.body) } catch {
            throw CaseEnd.failed("the authenticator's status is not in order: \(error); section 4.3")
        }
        guard status.authenticatorId == membership.authenticatorId else {
            throw CaseEnd.failed("the status is of another authenticatorId; section 4.3")
        }
        let expected = step.expected.signCountIsLast ? Int(cardholder.acceptedSignCount) : step.expected.signCount
        if let expected, Int(status.signCount) != expected {
            throw CaseEnd.failed("says signCount \(status.signCount) where \(expected) was accepted last; section 4.3")
        }
    }

    mutating func unenroll(_ choice: IssuerStep.TokenChoice, _ step: IssuerStep) async throws {
        let answer = try await ask(
            "DELETE", try await discovered().authenticatorEndpoint, token: try token(choice, of: step.cardholder))
        try verify(answer, to: "DELETE authenticatorEndpoint", step.expected, usual: 204)
    }

    mutating func subscribe(_ endpoint: String?, _ step: IssuerStep) async throws {
        let url = try await subscriptionURL()
        let body = try Self.subscription(endpoint ?? "http://127.0.0.1:9/push/conform").json.serialized()
        let answer = try await ask("PUT", url, token: try token(.own, of: step.cardholder), body: body)
        try verify(answer, to: "PUT push-subscription", step.expected, usual: 204)
    }

    mutating func unsubscribe(_ step: IssuerStep) async throws {
        let answer = try await ask("DELETE", try await subscriptionURL(), token: try token(.own, of: step.cardholder))
        try verify(answer, to: "DELETE push-subscription", step.expected, usual: 204)
    }

    private mutating func subscriptionURL() async throws -> String {
        let discovery = try await discovered()
        guard discovery.vapidPublicKey != nil else { throw CaseEnd.notShown("the issuer does not push") }
        return discovery.authenticatorEndpoint + "/push-subscription"
    }

    private static func subscription(_ endpoint: String) throws -> PushSubscription {
        PushSubscription(endpoint: try PushEndpoint(endpoint), recipient: try PushReceiverKey.generate().recipient)
    }
}
