package import Records
import StoreTables

extension Agent {
    /// The most enrollments in trouble that are named one by one.
    package static let maxTroubles = 20

    /// Whether the first look at the keys is still to come.
    package var isStarting: Bool { keyWatch.health.isFirstLookDue }

    /// Why the agent cannot do its work for every enrollment; empty if it can.
    ///
    /// Also if the store cannot be read, which is then the reason.
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

    /// Why the agent cannot do its work for an enrollment; nil if nothing is known that keeps it from that.
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
    /// The list is bounded however many enrollments there are. If the database cannot be read, that is one of the findings.
    package func findings() async -> [Finding] { await checkup.findings() }

    /// Finds the same, but throws `StoreError` if the database cannot be read.
    package func findingsOfAll() async throws -> [Finding] { try await checkup.findingsOfAll() }
}
