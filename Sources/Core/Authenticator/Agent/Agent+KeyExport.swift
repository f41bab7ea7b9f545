package import Journal
import Keys
import Logging
package import Records
import StoreTables

/// The half of an enrollment's key that a client asks for.
package enum KeyHalf: Sendable {
    /// The private half in its stored form: sealed under the agent's secret, and under its PIN if it has one.
    case sealed
    case `public`

    fileprivate var command: JournaledCommand {
        switch self {
        case .sealed: .exportKey
        case .public: .exportPublicKey
        }
    }
}

extension Agent {
    /// Exports one half of an enrollment's key.
    ///
    /// A sealed half cannot bring an older key back: the row's seal covers the key, so a key that is put back is
    /// detected.
    ///
    /// - Returns: the enrollment with that half, after the journal has recorded the peer.
    /// - Throws: `CommandError` if the enrollment has ended, its row is damaged, or it has no such half. Then the
    ///   journal has no entry.
    package func exportKey(_ half: KeyHalf, of id: EnrollmentID, for peer: ControlPeer) async throws -> Enrollment {
        let clock = ports.clock
        let enrollment = try await ports.store.write { store in
            let enrollment = try Self.keyToExport(half, of: id, in: store)
            try store.record(.commanded(half.command, by: peer, about: id), at: clock.now)
            return enrollment
        }
        log.notice("commanded", metadata: peer.logged(["command": "\(half.command)"]))
        return enrollment
    }

    /// Returns the enrollment that ``exportKey(_:of:for:)`` would return now, without recording it.
    package func keyToExport(_ half: KeyHalf, of id: EnrollmentID) async throws -> Enrollment {
        try await ports.store.read { try Self.keyToExport(half, of: id, in: $0) }
    }

    private static func keyToExport(
        _ half: KeyHalf, of id: EnrollmentID, in store: StoreReading
    ) throws -> Enrollment {
        guard let enrollment = try store.enrollment(id), !enrollment.isOver else {
            throw CommandError(.notEnrolled, "the enrollment \(id) has ended, and its key is gone")
        }
        try enrollment.expectWhole()
        switch half {
        case .sealed where enrollment.sealedKey == nil:
            let uri = enrollment.key.external?.uri.text ?? id.keyURI
            throw CommandError(
                .invalidArgument,
                "the agent did not make the key \(uri), and has no copy; its public half is exported (oobctl: --public)"
            )
        case .public where enrollment.credentialKey == nil:
            throw CommandError(.notEnrolled, "the enrollment \(id) has no key yet")
        case .sealed, .public: return enrollment
        }
    }
}
