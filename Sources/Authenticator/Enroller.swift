package import IssuerProtocol
import Keys
import Logging
import WebAuthn

/// What someone who enrolls asks for.
package struct EnrollmentWish: Sendable {
    package let route: IssuerRoute
    package let code: String
    package let authnType: AuthnType
    package let name: String

    package init(route: IssuerRoute, code: String, authnType: AuthnType, name: String) {
        self.route = route
        self.code = code
        self.authnType = authnType
        self.name = name
    }
}

/// Starts an enrollment: asks for options, makes the key, keeps key and body before anything is sent.
struct Enroller: Sendable {
    let ports: Ports
    let settings: AgentSettings
    let directory: IssuerDirectory
    let hub: EventHub
    let log: Logger

    /// The most enrollments of one agent.
    private static let mostEnrollments = 100_000

    /// - Returns: the enrollment's id once it is durable; ``Ceremonies`` sends it.
    /// - Throws: `CommandFailure` where nothing was begun; then there is no key and no row.
    func begin(_ wish: EnrollmentWish) async throws -> EnrollmentID {
        try checkAuthnType(wish)
        let answer = try await options(wish)
        try await check(answer.options, wish)
        let algorithm = try Self.algorithm(of: answer.options)
        let enrollment = try newEnrollment(wish, answer.options, algorithm)
        try await ports.book.write { try $0.insert(enrollment) }
        do {
            let body = try await registration(enrollment, algorithm, answer)
            var ready = enrollment
            ready.state = .enrolling(body: body)
            let changed = ready
            try await ports.book.write { try $0.update(changed) }
        } catch {
            try await abandon(enrollment)
            throw CommandFailure(.failed, "no key could be made: \(error)")
        }
        hub.publish(.ceremonyStarted(enrollment.id))
        return enrollment.id
    }

    private func checkAuthnType(_ wish: EnrollmentWish) throws {
        switch wish.authnType {
        case .presence: return
        case .pin:
            throw CommandFailure(
                .invalidArgument, "authnType pin is not available in this version: allowed are presence and test")
        case .test:
            guard wish.route.issuer.isLoopback || settings.allowTestAuthenticators else {
                throw CommandFailure(
                    .invalidArgument,
                    "authnType test is allowed only for an issuer on loopback, or with allow-test-authenticators")
            }
        }
    }

    private func options(_ wish: EnrollmentWish) async throws -> EnrollmentOptionsAnswer {
        do throws(IssuerFailure) {
            let discovery = try await directory.discovery(wish.route)
            return try await ports.gateway.enrollmentOptions(wish.route, discovery, code: wish.code)
        } catch {
            throw CommandFailure(enrolling: error, at: wish.route)
        }
    }

    /// What the options must be for this agent to make a key; checked before it does.
    private func check(_ options: PublicKeyCredentialCreationOptions, _ wish: EnrollmentWish) async throws {
        let issuer = wish.route.issuer
        guard issuer.permits(rpId: options.rpId) else {
            throw CommandFailure(
                .issuerRefused,
                "the issuer's rp.id \(options.rpId.debugDescription) is neither its host nor a parent domain of it")
        }
        guard options.userVerification != .required || wish.authnType.verifiesUser else {
            throw CommandFailure(
                .issuerRefused, "the issuer requires user verification, which authnType \(wish.authnType) has not")
        }
        let known = try await ports.book.read { try $0.enrollments(includingEnded: false) }
        guard known.count < Self.mostEnrollments else {
            throw CommandFailure(.failed, "there are \(known.count) enrollments already, which is the most")
        }
        let excluded = known.first { $0.route.issuer == issuer && options.excludeCredentials.contains($0.credentialId) }
        if let excluded {
            throw CommandFailure(.alreadyEnrolled, "the issuer knows this agent already, as enrollment \(excluded.id)")
        }
    }

    /// The first of the issuer's `pubKeyCredParams` that the agent has: their order is the issuer's preference
    /// (WebAuthn Level 3 §5.4).
    private static func algorithm(of options: PublicKeyCredentialCreationOptions) throws -> SignatureAlgorithm {
        if let first = options.pubKeyCredParams.lazy.compactMap(SignatureAlgorithm.init(rawValue:)).first {
            return first
        }
        let names = SignatureAlgorithm.allCases.map(\.name).joined(separator: ", ")
        throw CommandFailure(.issuerRefused, "the issuer takes no signature algorithm that this agent has (\(names))")
    }

    private func newEnrollment(
        _ wish: EnrollmentWish, _ options: PublicKeyCredentialCreationOptions, _ algorithm: SignatureAlgorithm
    ) throws -> Enrollment {
        Enrollment(
            id: try EnrollmentID(random: ports.entropy), route: wish.route, name: wish.name,
            authnType: wish.authnType, algorithm: algorithm.rawValue, rpId: options.rpId,
            credentialId: try ports.entropy.octets(32), userHandle: options.userId, startedAt: ports.clock.now,
            signCount: 0, state: .keyless)
    }

    private func registration(
        _ enrollment: Enrollment, _ algorithm: SignatureAlgorithm, _ answer: EnrollmentOptionsAnswer
    ) async throws -> [UInt8] {
        let publicKey = try await ports.custody.makeKey(named: enrollment.id, algorithm: algorithm)
        let unsigned = try UnsignedRegistration(enrollment, publicKey: publicKey, options: answer.options)
        var signature: [UInt8]?
        if let permit = try unsigned.permit() {
            signature = try await ports.custody.signature(with: enrollment.id, for: permit)
        }
        return EnrollmentRequest(
            ceremonyId: answer.ceremonyId, credential: try unsigned.attested(signature), name: enrollment.name,
            version: settings.version, authnType: enrollment.authnType
        ).octets
    }

    private func abandon(_ enrollment: Enrollment) async throws {
        var ended = enrollment
        ended.state = .ended(authenticatorId: nil, keyRemoved: false)
        let changed = ended
        try await ports.book.write { try $0.update(changed) }
        try await EndedKeys(ports: ports).remove(of: enrollment.id)
    }
}

extension CommandFailure {
    init(enrolling failure: IssuerFailure, at route: IssuerRoute) {
        switch failure {
        case .problem(let problem) where problem.code == .invalidEnrollmentCode:
            self.init(
                .invalidEnrollmentCode,
                "the enrollment code is wrong, used or expired: ask the issuer for a new one")
        case .problem:
            self.init(.issuerRefused, "the issuer \(route.issuer.text) refused the enrollment: \(failure.reason)")
        case .transient:
            self.init(.issuerUnreachable, "the issuer \(route.issuer.text) cannot be used: \(failure.reason)")
        }
    }
}
