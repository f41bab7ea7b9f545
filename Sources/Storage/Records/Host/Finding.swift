package import ThreeDS

/// What a check found: a weakness, or that it cannot be told whether there is one.
package struct Finding: Sendable, Equatable {
    package let weakness: Weakness
    /// A sentence or two: what is weak, if, and what it means.
    package let message: String
    /// Nil for one about the agent as a whole.
    package let enrollment: EnrollmentID?
    /// False if the check could not be made.
    package let isCertain: Bool
    /// For how many further enrollments this one stands; nil for one that stands for itself.
    package let others: Int?

    package init(
        _ weakness: Weakness, _ message: String, about enrollment: EnrollmentID? = nil, isCertain: Bool = true
    ) {
        self.init(weakness, message, about: enrollment, isCertain: isCertain, others: nil)
    }

    private init(
        _ weakness: Weakness, _ message: String, about enrollment: EnrollmentID?, isCertain: Bool, others: Int?
    ) {
        self.weakness = weakness
        self.message = message
        self.enrollment = enrollment
        self.isCertain = isCertain
        self.others = others
    }

    /// The weakness's own; low if it cannot be told whether there is one.
    package var severity: Warning.Severity { isCertain ? weakness.severity : .low }

    package var warning: Warning { Warning(id: weakness.rawValue, message: message, severity: severity) }
}

extension Finding {
    /// The most of one kind that are listed one by one.
    package static let maxOfAKind = 10

    /// The most severe first, those that are not certain last.
    ///
    /// What is beyond the bound of its kind becomes one finding.
    ///
    /// - Parameter more: how many further ones there are of a kind, which are not among these.
    package static func listed(_ findings: [Finding], more: [Kind: Int] = [:]) -> [Finding] {
        [true, false].flatMap { isCertain in
            Weakness.allCases.flatMap { weakness in
                let kind = Kind(weakness: weakness, isCertain: isCertain)
                return shortened(findings.filter { $0.kind == kind }, more: more[kind] ?? 0)
            }
        }
    }

    /// Of what kind a finding is.
    package struct Kind: Hashable {
        package let weakness: Weakness
        package let isCertain: Bool

        package init(weakness: Weakness, isCertain: Bool) {
            self.weakness = weakness
            self.isCertain = isCertain
        }
    }

    private var kind: Kind { Kind(weakness: weakness, isCertain: isCertain) }

    private static func shortened(_ kind: [Finding], more: Int) -> [Finding] {
        let others = max(kind.count - maxOfAKind, 0) + more
        guard let first = kind.first, others > 0 else { return kind }
        let message = "the same of \(others) more enrollments"
        let rest = Finding(first.weakness, message, about: nil, isCertain: first.isCertain, others: others)
        return kind.prefix(maxOfAKind) + [rest]
    }
}

/// What can be weak about an agent, its enrollments, and the host and process that it runs in.
///
/// The names are promises: scripts look for them. Each has a section in docs/reference/doctor.md. The most
/// severe come first.
package enum Weakness: String, Sendable, CaseIterable {
    case signedElsewhere, signCountRaised, databaseTrouble, restored, headMissing, rowsChanged, enrollmentDamaged,
        keyUnusable,
        requestUnverified, clockBehind, clockAhead, diskLow, stateReadable, debuggerAttached
    case personas, testAuthenticator, testClock
    case pinGuessable, tokenKeyExportable, secretBesideKeys, coreDumps, swapUnencrypted, socketOpen
    case clockUnsynchronised, memoryNotLocked, databaseAlone, headNotKept
    case secretInFile, keyExportable, plainHTTP, suffixListMissing

    package var severity: Warning.Severity {
        switch self {
        case .signedElsewhere, .signCountRaised, .databaseTrouble, .restored, .headMissing, .rowsChanged,
            .enrollmentDamaged, .keyUnusable, .requestUnverified, .clockBehind, .clockAhead, .diskLow, .stateReadable,
            .debuggerAttached:
            .high
        case .personas, .testAuthenticator, .testClock, .pinGuessable, .tokenKeyExportable, .secretBesideKeys,
            .coreDumps, .swapUnencrypted, .socketOpen, .clockUnsynchronised, .memoryNotLocked, .databaseAlone,
            .headNotKept:
            .medium
        case .secretInFile, .keyExportable, .plainHTTP, .suffixListMissing: .low
        }
    }
}
