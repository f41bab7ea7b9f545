import ThreeDS

/// Looks at what is weak about the agent, its enrollments and its surroundings.
package struct Checkup: Sendable {
    let ports: Ports
    let keys: KeyHealth

    /// The most severe first, and bounded however many enrollments there are.
    ///
    /// Also if the database cannot be read, which is then one of the findings.
    ///
    /// - Parameter enrollments: all that are not over, as they were just looked up; nil: they are looked up.
    package func findings(of enrollments: [Enrollment]? = nil) async -> [Finding] {
        do {
            return try await findingsOfAll(enrollments)
        } catch {
            let message = "the database cannot be read, so that nothing is known of the enrollments: \(error)"
            return Finding.listed([Finding(.databaseTrouble, message)] + (await ports.inspector.findings()))
        }
    }

    /// The same, but throws `StoreError` if the database cannot be read.
    package func findingsOfAll(_ enrollments: [Enrollment]? = nil) async throws -> [Finding] {
        let ofTheStore = try await storeFindings(enrollments)
        return Finding.listed(storeTrouble + ofTheStore + (await ports.inspector.findings()))
    }

    private var storeTrouble: [Finding] {
        ports.storeHealth.trouble.map { [Finding(.databaseTrouble, "the agent cannot do its work: \($0)")] } ?? []
    }

    private func storeFindings(_ known: [Enrollment]?) async throws -> [Finding] {
        let (enrollments, newest) = try await ports.store.read {
            (try known ?? $0.enrollments(includingEnded: false), try $0.newestTime())
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

/// The host and the process that the core runs in, which it cannot look at itself.
package protocol HostInspector: Sendable {
    /// What is weak about them now; a check that cannot be made is a finding that is not certain.
    func findings() async -> [Finding]
}

/// Those of a program that vouches for them itself.
package struct NoHostInspector: HostInspector {
    package init() {}

    package func findings() async -> [Finding] { [] }
}

/// Whether this machine's clock can be right.
///
/// A clock that is behind is warned of and not refused: a machine without a battery for it is put right by the network
/// some time after its start, and the issuer ends what has expired in any case.
enum ClockCheck {
    /// 2026-01-01, before the first release of this program.
    static let floor: Int64 = 1_767_225_600
    /// How far, in seconds, a clock may be put back without a word.
    static let tolerance: Int64 = 300

    /// - Parameter newest: the newest time in the store; seconds since 1970.
    static func finding(now: Int64, newest: Int64?) -> Finding? {
        let least = max(floor, (newest ?? floor) - tolerance)
        guard now < least else { return nil }
        let known = UTCTime.text(max(floor, newest ?? floor))
        return Finding(
            .clockBehind,
            "this machine's clock says \(UTCTime.text(now)), which cannot be: it was \(known) already; requests "
                + "seem to live longer than they do; set the clock")
    }
}
