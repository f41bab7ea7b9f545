package import ThreeDS

/// What can be weak about an agent, its enrollments, and the host and process that it runs in.
///
/// The names are promises: scripts look for them. Each has a section in docs/reference/doctor.md. The most
/// severe come first.
package enum Weakness: String, Sendable, CaseIterable {
    case signedElsewhere, signCountRaised, databaseTrouble, enrollmentDamaged, keyUnusable, clockBehind, stateReadable,
        debuggerAttached
    case testAuthenticator, pinGuessable, tokenKeyExportable, secretBesideKeys, coreDumps, swapUnencrypted, socketOpen
    case clockUnsynchronised, memoryNotLocked
    case secretInFile, keyExportable, plainHTTP

    package var severity: Warning.Severity {
        switch self {
        case .signedElsewhere, .signCountRaised, .databaseTrouble, .enrollmentDamaged, .keyUnusable, .clockBehind,
            .stateReadable, .debuggerAttached:
            .high
        case .testAuthenticator, .pinGuessable, .tokenKeyExportable, .secretBesideKeys, .coreDumps, .swapUnencrypted,
            .socketOpen, .clockUnsynchronised, .memoryNotLocked:
            .medium
        case .secretInFile, .keyExportable, .plainHTTP: .low
        }
    }
}
