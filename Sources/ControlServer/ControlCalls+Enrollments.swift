import Authenticator
import Control
import IssuerProtocol

extension ControlCalls {
    /// How long an enroll waits for the issuer's answer, in seconds; it goes on without the client.
    private static let patience: Double = 60

    func enrollments() async throws -> Answer {
        try .json(try await agent.enrollments().map { EnrollmentView($0, keyURI: agent.keyURI(of: $0.id)) })
    }

    func enroll(_ command: EnrollCommand) async throws -> Answer {
        let enrollment = try await agent.enroll(try EnrollmentWish(command), patience: Self.patience)
        return try .json(EnrollmentView(enrollment, keyURI: agent.keyURI(of: enrollment.id)), status: 201)
    }

    func unenroll(_ prefix: String, _ command: UnenrollCommand) async throws -> Answer {
        let enrollment = try await agent.enrollment(prefix: prefix, includingEnded: true)
        let wasEnrolled = try await agent.unenroll(
            enrollment.id, locally: command.local ?? false, forced: command.force ?? false)
        return try .json(UnenrolledView(id: enrollment.id.text, wasEnrolled: wasEnrolled))
    }

    func fetch(_ command: FetchCommand) async throws -> Answer {
        let enrollment = try await id(of: command.enrollment)
        let failures = try await agent.fetch(enrollment).map { enrollment, reason in
            FetchFailure(issuer: enrollment.route.issuer.text, message: reason)
        }
        return try .json(FetchView(pending: try await agent.counts().pending, failures: failures))
    }

    func status() async throws -> Answer {
        let enrollments = try await agent.enrollments()
        let counts = try await agent.counts()
        let reasons = reasons(enrollments)
        return try .json(
            StatusView(
                version: agent.settings.version, state: reasons.isEmpty ? .ready : .degraded, reasons: reasons,
                enrollments: enrollments.map { EnrollmentView($0, keyURI: agent.keyURI(of: $0.id)) },
                pending: counts.pending, queued: counts.queued,
                warnings: agent.warnings(about: enrollments).map(WarningView.init)))
    }

    func health() async throws -> Answer {
        let reasons = reasons(try await agent.enrollments())
        return try .json(
            HealthView(ready: reasons.isEmpty, reasons: reasons), status: reasons.isEmpty ? 200 : 503)
    }

    /// Why the agent cannot do its work for every enrollment.
    private func reasons(_ enrollments: [Enrollment]) -> [String] {
        enrollments.compactMap { enrollment in
            if case .suspended = enrollment.state {
                return "enrollment \(enrollment.id): \(enrollment.route.issuer) no longer knows it; it is suspended"
            }
            return agent.trouble(of: enrollment.id).map {
                "enrollment \(enrollment.id): \(enrollment.route.issuer): \($0)"
            }
        }
    }
}

extension EnrollmentWish {
    init(_ command: EnrollCommand) throws(ControlError) {
        let issuer: IssuerURL
        do throws(ProtocolError) {
            issuer = try IssuerURL(command.issuer)
        } catch {
            throw ControlError(.invalidArgument, "issuer: \(error)")
        }
        let text = command.authnType ?? AuthnType.presence.rawValue
        guard let authnType = AuthnType(rawValue: text) else {
            let allowed = AuthnType.allCases.map(\.rawValue).joined(separator: ", ")
            throw ControlError(.invalidArgument, "authnType: must be one of \(allowed)")
        }
        self.init(
            route: IssuerRoute(issuer: issuer, rootsPEM: command.caFile), code: command.code, authnType: authnType,
            name: command.name ?? issuer.host)
    }
}
