import Records
import StoreTables
import TextAndTime

/// Finds the weaknesses of the agent, its enrollments and its host.
struct Checkup: Sendable {
    let ports: Ports
    let keys: KeyHealth
    let issuers: IssuerHealth
    var hasPersonas = false

    /// Returns the findings, the most severe first, in a bounded number.
    ///
    /// A database that cannot be read is itself a finding.
    func findings() async -> [Finding] {
        do {
            return try await findingsOfAll()
        } catch {
            let message = "the database cannot be read, so that nothing is known of the enrollments: \(error)"
            return Finding.listed(
                [Finding(.databaseTrouble, message)] + headFindings + buildFindings
                    + (await ports.inspector.findings()))
        }
    }

    /// Returns the findings as ``findings()`` does, but throws `StoreError` if the database cannot be read.
    func findingsOfAll() async throws -> [Finding] {
        let ofTheStore = try await storeFindings()
        return Finding.listed(
            storeTrouble + headFindings + buildFindings + clockFindings + ofTheStore.findings
                + (await ports.inspector.findings()),
            more: ofTheStore.more)
    }

    private var storeTrouble: [Finding] {
        ports.storeHealth.trouble.map { [Finding(.databaseTrouble, "the agent cannot do its work: \($0)")] } ?? []
    }

    private var headFindings: [Finding] {
        let standing = ports.headStanding
        let doubts = standing.doubts.map { doubt in
            switch doubt {
            case .missing: Finding(.headMissing, doubt.sentence)
            case .restored: Finding(.restored, doubt.sentence)
            case .rowsChanged: Finding(.rowsChanged, doubt.sentence)
            }
        }
        let notKept = standing.notKept.map { reason in
            Finding(
                .headNotKept,
                "the newest entry of this host's journal cannot be noted outside the database, so that an older database "
                    + "in its place may not be noticed at the next start: \(reason)")
        }
        return doubts + [notKept].compactMap(\.self)
    }

    private var buildFindings: [Finding] {
        guard hasPersonas else { return [] }
        let message =
            "this agent was built with personas, for tests: for real payments, install the Debian package, or build "
            + "without personas, as plain `swift build -c release` does"
        return [Finding(.personas, message)]
    }

    private var clockFindings: [Finding] {
        let ahead = ports.provenTime.trouble.map { Finding(.clockAhead, $0) }
        return [ahead, testClockFinding].compactMap(\.self)
    }

    private var testClockFinding: Finding? {
        ports.testClock.map { clock in
            let message =
                "the agent's clock is a test's (--test-clock): it says \(UTCTime.text(clock.now)), which is "
                + "\(ClockAdvance.text(clock.offset)) ahead of this machine's"
            return Finding(.testClock, message)
        }
    }

    /// Findings, and the number of further ones of each kind.
    private struct Found {
        var findings: [Finding] = []
        var more: [Finding.Kind: Int] = [:]

        /// - Parameter count: the number of enrollments with this kind of finding. Only some of them were read.
        mutating func add(_ some: [Finding], of weakness: Weakness, isCertain: Bool = true, count: Int) {
            findings += some
            more[Finding.Kind(weakness: weakness, isCertain: isCertain)] = max(count - some.count, 0)
        }
    }

    /// Reads as many enrollments of a kind as are listed, and counts the others.
    private func storeFindings() async throws -> Found {
        let failing = Set(keys.failing)
        let unverified = issuers.unverified
        return try await ports.store.read { store in
            var found = Found()
            found.findings = ClockCheck.finding(now: ports.clock.now, newest: try store.newestTime()).map { [$0] } ?? []
            let marked = try EnrollmentHealth(store).weak(limit: Finding.maxOfAKind)
            var known: [EnrollmentID: [Finding]] = [:]
            for id in Set(marked.flatMap(\.first)) { known[id] = try store.enrollment(id)?.findings }
            // After these reads: only the read of a row finds that it is damaged.
            let damaged = try EnrollmentHealth(store).damaged()
            for id in damaged.prefix(Finding.maxOfAKind) where known[id] == nil {
                known[id] = try store.enrollment(id)?.findings
            }
            let first = damaged.prefix(Finding.maxOfAKind).flatMap { known[$0] ?? [] }
            found.add(first.filter { $0.weakness == .enrollmentDamaged }, of: .enrollmentDamaged, count: damaged.count)
            for group in marked {
                let findings = group.first.flatMap { known[$0] ?? [] }
                    .filter { $0.weakness == group.mark.weakness && $0.isCertain == group.mark.isCertain }
                found.add(
                    findings, of: group.mark.weakness, isCertain: group.mark.isCertain,
                    // A row that was just found to be damaged is not counted as weak.
                    count: group.count - (group.first.count - findings.count))
            }
            // Enrollment rows have no mark for this: the count of PIN tries is in another row.
            let unclear =
                try store.keyTries().values.contains(.unknown)
                ? try store.enrollmentsOfExternalKeys().filter { $0.keyTries == .unknown && !$0.isDamaged } : []
            found.findings += unclear.flatMap(\.findings).filter { $0.weakness == .enrollmentDamaged }
            let unusable = try store.enrollmentIDs(among: failing)
            found.add(
                unusable.prefix(Finding.maxOfAKind).compactMap(trouble(withKeyOf:)), of: .keyUnusable,
                count: unusable.count)
            let waiting = try store.enrollmentIDs(among: Set(unverified.keys))
            found.add(
                waiting.prefix(Finding.maxOfAKind).compactMap { id in
                    unverified[id].map { Finding(.requestUnverified, "enrollment \(id): \($0)", about: id) }
                }, of: .requestUnverified, count: waiting.count)
            return found
        }
    }

    private func trouble(withKeyOf id: EnrollmentID) -> Finding? {
        keys.test(of: id)?.problem.map { problem in
            Finding(.keyUnusable, "the key of enrollment \(id) cannot be used: \(problem)", about: id)
        }
    }
}
