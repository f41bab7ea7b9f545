package import Records
import StoreTables

extension Agent {
    /// The limit for enrollments in trouble that are named individually.
    package static let maxTroubles = 20

    /// Whether some keys have not been tested since the start.
    package var isStarting: Bool { keyWatch.health.isFirstLookDue }

    /// Returns the reasons why the agent cannot serve every enrollment.
    ///
    /// Empty if it can serve all of them. If the store cannot be read, that is a reason too.
    package func troubles() async throws -> [String] {
        do {
            return try await ports.store.read { store in
                let troubled = try self.troubled(in: store)
                let named = try troubled.ids.prefix(Self.maxTroubles).compactMap { try store.enrollment($0) }
                return self.troubles(of: named, others: max(troubled.count - Self.maxTroubles, 0))
            }
        } catch let trouble as StoreError {
            return processTroubles.all + headTrouble + clockTrouble + ["\(trouble)"] + descriptorTrouble
        }
    }

    private func troubles(of enrollments: [Enrollment], others: Int) -> [String] {
        processTroubles.all + (isStarting ? ["the agent is starting: not all keys have been looked at yet"] : [])
            + headTrouble + clockTrouble
            + (storeError.map { ["\($0)"] } ?? [])
            + descriptorTrouble
            + enrollments.compactMap { trouble(with: $0)?.text }
            + (others > 0 ? ["\(others) more enrollment\(others == 1 ? " is" : "s are") in trouble"] : [])
    }

    private var headTrouble: [String] { ports.headStanding.doubts.map(\.sentence) }

    private var clockTrouble: [String] { [ports.provenTime.trouble].compactMap(\.self) }

    private var descriptorTrouble: [String] { ports.inspector.descriptors.shortage.map { [$0] } ?? [] }

    /// Returns the reason why the agent cannot serve an enrollment, or `nil` if none is known.
    func trouble(with enrollment: Enrollment) -> Trouble? {
        if enrollment.isDamaged { return Trouble(.key, enrollment.damage) }
        let (id, issuer) = (enrollment.id, enrollment.target.issuer)
        if case .suspended = enrollment.state {
            return Trouble(.suspended, "enrollment \(id): \(issuer) no longer knows it; it is suspended")
        }
        if let problem = keyTest(of: id)?.problem {
            return Trouble(.key, "enrollment \(id): its key cannot be used: \(problem)")
        }
        return health.found(of: id).map { Trouble($0.cause, "enrollment \(id): \(issuer): \($0.text)") }
    }

    /// Finds the weaknesses of the agent, its enrollments and its surroundings, the most severe first.
    ///
    /// The list is bounded, even if there are many enrollments. If the database cannot be read, that is one of the
    /// findings.
    package func findings() async -> [Finding] { await checkup.findings() }

    /// Finds the same weaknesses, but throws `StoreError` if the database cannot be read.
    package func findingsOfAll() async throws -> [Finding] { try await checkup.findingsOfAll() }
}
