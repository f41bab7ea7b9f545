import IssuerProtocol
import Journal
import Keys
import Logging
import Records
import Signing
import StoreTables
internal import ThreeDS
import WebAuthn

/// The command that starts an enrollment.
///
/// It asks for options, makes the key, and stores key, row and body together before the body is sent.
struct Enroller: Sendable {
    let ports: Ports
    let settings: AgentSettings
    let directory: IssuerDirectory
    let pushes: PushMaker
    let keys: KeyHealth
    let hub: EventHub
    let log: Logger

    /// - Returns: the enrollment's id, once the enrollment is durable; ``RegistrationDelivery`` sends it.
    /// - Throws: `CommandError` if the enrollment was not begun. Then it has left neither key nor row.
    func begin(_ parameters: EnrollmentParameters) async throws -> EnrollmentID {
        try expectAllowed(parameters)
        // Check this before the issuer gets the code, which can be used once.
        try ports.storeHealth.expectRoom()
        guard EnrollmentName.bytes.contains(parameters.name.utf8.count) else {
            throw CommandError(.invalidArgument, "a name has 1 to 256 bytes, without the white space at its ends")
        }
        if let problem = parameters.target.rootsPEM.flatMap(ports.gateway.problem(withRoots:)) {
            throw CommandError(.invalidArgument, problem)
        }
        if parameters.isNameChosen {
            try await ports.store.read { try $0.expectFreeName(parameters.name) }
        }
        // Check the key before the issuer gets the code, so that a fault of the key does not use the code up.
        let place = try await keyPlace(parameters)
        try await checkIssuer(parameters.target)
        let answer = try await options(parameters)
        try await expectAllowed(answer.options, parameters)
        let algorithm = try Self.algorithm(of: answer.options, at: place)
        let enrollment = try newEnrollment(for: parameters, options: answer.options, algorithm: algorithm, key: place)
        do {
            let push = try pushes.make(for: enrollment, try await directory.discovery(parameters.target))
            let (key, request) = try await registration(
                of: enrollment, algorithm: algorithm, answering: answer, pin: parameters.pin, push: push?.sent)
            // During these calls another caller may have enrolled the same key or taken the name: `insert` checks
            // again.
            try await insert(enrollment, with: key, sending: request, push: push?.kept, as: parameters)
        } catch {
            keys.forget(enrollment.id)
            if error is StoreError || error is CommandError { throw error }
            if let failure = error as? CustodyError { throw CommandError(failure) }
            throw CommandError(.failed, "no key could be made: \(error)")
        }
        hub.publish(.registrationStarted(enrollment.id))
        return enrollment.id
    }

    /// Checks without asking the issuer whether it is allowed, and whether the parameters fit the authnType.
    func expectAllowed(_ parameters: EnrollmentParameters) throws {
        try settings.allowedIssuers.expectAllowed(parameters.target.issuer)
        try checkAuthnType(parameters)
    }

    private func checkAuthnType(_ parameters: EnrollmentParameters) throws {
        guard (parameters.pin != nil) == (parameters.authnType == .pin) else {
            let what = parameters.pin == nil ? "takes a PIN, and none was given" : "takes no PIN, and one was given"
            throw CommandError(.invalidArgument, "authnType \(parameters.authnType) \(what)")
        }
        switch parameters.authnType {
        case .presence, .pin:
            guard ports.testClock == nil else {
                throw CommandError(
                    .invalidArgument,
                    "authnType \(parameters.authnType) is not allowed with --test-clock: only authnType test is, or "
                        + "enroll at an agent without a test clock")
            }
        case .test:
            guard parameters.target.issuer.isLoopback || settings.allowTestAuthenticators else {
                throw CommandError(
                    .invalidArgument,
                    "authnType test is allowed only for an issuer on loopback, or with allow-test-authenticators")
            }
        }
    }

    /// Refuses an issuer for which no key could be made, or whose requests could not be verified.
    ///
    /// Otherwise each payment would be lost.
    private func checkIssuer(_ target: IssuerTarget) async throws {
        let problem: String?
        do throws(IssuerError) {
            problem = try await directory.keysForEnrolling(target).emptiness
        } catch {
            throw CommandError(enrolling: error, at: target)
        }
        // The name that the issuer gives itself is known only now.
        guard !target.issuer.isByAddress else {
            throw CommandError(
                .issuerRefused,
                "the issuer calls itself \(target.issuer.text), and no key can be made for an IP address: let it call "
                    + "itself by a name, on this host localhost")
        }
        guard let problem else { return }
        throw CommandError(.issuerRefused, "the issuer \(target.issuer.text) cannot be enrolled at: \(problem)")
    }

    private func options(_ parameters: EnrollmentParameters) async throws -> EnrollmentOptionsAnswer {
        do throws(IssuerError) {
            let discovery = try await directory.discovery(parameters.target)
            return try await ports.gateway.enrollmentOptions(parameters.target, discovery, code: parameters.code)
        } catch {
            throw CommandError(enrolling: error, at: parameters.target)
        }
    }

    /// Checks that the agent may make a key for these options, before it does.
    private func expectAllowed(_ options: PublicKeyCredentialCreationOptions, _ parameters: EnrollmentParameters)
        async throws
    {
        let issuer = parameters.target.issuer
        guard issuer.permits(rpId: options.rpId) else {
            throw CommandError(
                .issuerRefused,
                "the issuer's rp.id \(options.rpId.debugDescription) is neither its host nor a parent domain of it")
        }
        guard settings.publicSuffixes()?.forbids(rpId: options.rpId, of: issuer.host) != true else {
            throw CommandError(
                .issuerRefused,
                "the issuer's rp.id \(options.rpId.debugDescription) is a public suffix (publicsuffix.org) or above one, and "
                    + "anyone may have a name below it: its host \(issuer.host) is allowed, or a parent domain below the suffix"
            )
        }
        guard options.userVerification != .required || parameters.authnType.verifiesUser else {
            throw CommandError(
                .issuerRefused,
                "the issuer requires user verification, which authnType \(parameters.authnType) does not do")
        }
        let (count, excluded) = try await ports.store.read { store in
            let known = try options.excludeCredentials.compactMap { try store.enrollment(credentialId: $0) }
            return (try store.enrollmentCount(), known.first { $0.target.issuer == issuer })
        }
        let limit = settings.bounds.enrollments
        guard count < limit else {
            throw CommandError(
                .failed, "there are \(count) enrollments already: the limit is \(limit) (setting max-enrollments)")
        }
        if let excluded {
            throw CommandError(.alreadyEnrolled, "the issuer already has this agent, as enrollment \(excluded.id)")
        }
    }

    /// Makes an enrollment without its key, and so without the body for its issuer.
    private func newEnrollment(
        for parameters: EnrollmentParameters, options: PublicKeyCredentialCreationOptions,
        algorithm: SignatureAlgorithm, key: KeyPlace
    ) throws -> Enrollment {
        Enrollment(
            id: try EnrollmentID(random: ports.entropy), target: parameters.target, name: parameters.name,
            authnType: parameters.authnType, algorithm: algorithm.rawValue, rpId: options.rpId,
            credentialId: try ports.entropy.bytes(32), userHandle: options.userId, startedAt: ports.clock.now,
            key: key, takesPush: parameters.takesPush, signCount: 0, state: .enrolling(body: []),
            isPINGuessable: parameters.pin?.isGuessable ?? false)
    }

    private func registration(
        of enrollment: Enrollment, algorithm: SignatureAlgorithm, answering answer: EnrollmentOptionsAnswer, pin: PIN?,
        push: PushSubscription?
    ) async throws -> (key: EnrolledKey, request: EnrollmentRequest) {
        let (enrolled, key) = try await key(of: enrollment, algorithm: algorithm, pin: pin)
        let check = UserCheck.explicitApproval(by: enrollment.authnType, with: key)
        let unsigned = try UnsignedRegistration(
            enrollment, publicKey: enrolled.publicKey, check: check, options: answer.options)
        var signature: [UInt8]?
        if let permit = try unsigned.permit() { signature = try await key.signature(for: permit) }
        let request = EnrollmentRequest(
            ceremonyId: answer.ceremonyId, credential: try unsigned.attested(signature), name: enrollment.name,
            version: settings.version, authnType: enrollment.authnType, pushSubscription: push)
        return (enrolled, request)
    }
}
