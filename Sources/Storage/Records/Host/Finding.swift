package import ThreeDS

/// Result of a check: a weakness, or the statement that the check was not possible.
package struct Finding: Sendable, Equatable {
    package let weakness: Weakness
    /// A sentence or two: the weakness, whether it exists, and its consequence.
    package let message: String
    /// `nil` for a finding about the agent as a whole.
    package let enrollment: EnrollmentID?
    /// Whether a check was possible.
    package let isCertain: Bool
    /// The number of further enrollments that this finding stands for, or `nil` if it stands for itself.
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

    /// The severity of the weakness, or low if the check was not possible.
    package var severity: Warning.Severity { isCertain ? weakness.severity : .low }

    package var warning: Warning { Warning(id: weakness.rawValue, message: message, severity: severity) }
}

extension Finding {
    /// Maximum number of findings of one kind that are listed separately.
    package static let maxOfAKind = 10

    /// Orders findings by severity, with the uncertain ones last.
    ///
    /// The findings above the maximum of their kind become one finding.
    ///
    /// - Parameter more: the numbers of further findings of each kind, which are not in `findings`.
    package static func listed(_ findings: [Finding], more: [Kind: Int] = [:]) -> [Finding] {
        [true, false].flatMap { isCertain in
            Weakness.allCases.flatMap { weakness in
                let kind = Kind(weakness: weakness, isCertain: isCertain)
                return shortened(findings.filter { $0.kind == kind }, more: more[kind] ?? 0)
            }
        }
    }

    /// The kind of a finding.
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

/// A weakness of an agent, its enrollments, its host or its process.
///
/// The names are stable, because scripts search for them. Each has a section in docs/reference/doctor.md. The most
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
