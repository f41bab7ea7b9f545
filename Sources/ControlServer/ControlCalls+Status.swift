import Authenticator
import Control

extension ControlCalls {
    /// How the agent is; also where its database cannot be read, which is when it is asked for most.
    func status() async throws -> Answer {
        do {
            return try .json(try await wholeStatus())
        } catch let trouble as BookTrouble {
            return try .json(
                StatusView(
                    version: agent.settings.version, state: .degraded,
                    reasons: ["\(trouble)", "what the database holds cannot be counted"], pending: 0, queued: 0,
                    warnings: await weaknesses))
        }
    }

    private func wholeStatus() async throws -> StatusView {
        let enrollments = try await agent.enrollments()
        let counts = try await agent.counts()
        let reasons = reasons(enrollments)
        return StatusView(
            version: agent.settings.version, state: reasons.isEmpty ? .ready : .degraded, reasons: reasons,
            enrollments: enrollments.map { EnrollmentView($0, of: agent) },
            pending: counts.pending, queued: counts.queued,
            warnings: await weaknesses)
    }

    func health() async throws -> Answer {
        var reasons: [String]
        do {
            reasons = self.reasons(try await agent.enrollments())
        } catch let trouble as BookTrouble {
            reasons = ["\(trouble)"]
        }
        return try .json(
            HealthView(ready: reasons.isEmpty, reasons: reasons), status: reasons.isEmpty ? 200 : 503)
    }

    /// Why the agent cannot do its work for every enrollment.
    private func reasons(_ enrollments: [Enrollment]) -> [String] {
        let trouble = agent.bookTrouble.map { ["\($0)"] } ?? []
        return trouble + enrollments.compactMap(reason)
    }

    private func reason(_ enrollment: Enrollment) -> String? {
        if case .suspended = enrollment.state {
            return "enrollment \(enrollment.id): \(enrollment.route.issuer) no longer knows it; it is suspended"
        }
        if let problem = agent.keyTest(of: enrollment.id)?.problem {
            return "enrollment \(enrollment.id): its key cannot be used: \(problem)"
        }
        return agent.trouble(of: enrollment.id).map {
            "enrollment \(enrollment.id): \(enrollment.route.issuer): \($0)"
        }
    }
}
