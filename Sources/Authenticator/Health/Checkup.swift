/// Looks at what is weak about the agent, its enrollments and its surroundings.
package struct Checkup: Sendable {
    let ports: Ports
    let keys: KeyHealth

    /// The most severe first, and bounded however many enrollments there are.
    ///
    /// Also where the database cannot be read, which is then one of the findings.
    package func findings() async -> [Finding] {
        do {
            return try await findingsOfAll()
        } catch {
            let message = "the database cannot be read, so that nothing is known of the enrollments: \(error)"
            return Finding.listed([Finding(.databaseTrouble, message)] + (await ports.inspector.findings()))
        }
    }

    /// The same, but throws `StoreError` where the database cannot be read.
    package func findingsOfAll() async throws -> [Finding] {
        let ofTheStore = try await storeFindings()
        return Finding.listed(storeTrouble + ofTheStore + (await ports.inspector.findings()))
    }

    private var storeTrouble: [Finding] {
        ports.storeHealth.trouble.map { [Finding(.databaseTrouble, "the agent cannot do its work: \($0)")] } ?? []
    }

    private func storeFindings() async throws -> [Finding] {
        let (enrollments, newest) = try await ports.store.read {
            (try $0.enrollments(includingEnded: false), try $0.newestTime())
        }
        let clock = ClockCheck.finding(now: ports.clock.now, newest: newest)
        return (clock.map { [$0] } ?? []) + enrollments.flatMap(\.findings)
            + enrollments.compactMap(trouble(withKeyOf:))
    }

    private func trouble(withKeyOf enrollment: Enrollment) -> Finding? {
        keys.test(of: enrollment.id)?.problem.map { problem in
            Finding(
                .keyUnusable, "the key of enrollment \(enrollment.id) cannot be used: \(problem)", about: enrollment.id)
        }
    }
}
