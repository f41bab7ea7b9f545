#if PostgreSQL
import Records
import StoreTables
import TableRows

extension StoreError {
    /// Converts PostgreSQL's errors to the agent's.
    ///
    /// Other errors stay unchanged.
    static func naming(_ error: any Error, _ place: String) -> any Error {
        switch error {
        case let error as PostgresError: StoreError(error, at: place)
        case let doubt as CommitInDoubtError: StoreError(doubt.cause, at: place, isInDoubt: true)
        case is CommitUnsettledError:
            StoreError(.unreachable, at: place, detail: "what became of a commit is not known yet")
        case let row as UnreadableRowError: StoreError(.corrupt, at: place, detail: "\(row)")
        case let journal as ForgedJournalError: StoreError(.forged, at: place, detail: "\(journal)")
        case let form as StoreFormError: StoreError(form, at: place)
        case is PostgresSchema.BusyError:
            StoreError(.unreachable, at: place, detail: "another host has been making its tables for a minute")
        case let unfit as PostgresServer.UnfitError: StoreError(.other, at: place, detail: unfit.reason)
        case let apart as ClocksApartError:
            StoreError(
                .clock, at: place,
                detail: "\(apart.seconds) s \(apart.isAhead ? "ahead" : "behind"), "
                    + "at most \(ClockGuard.tolerance) are allowed")
        case let taken as HostNameTakenError:
            StoreError(
                .notOurs, at: place, detail: "an agent on another machine runs as host \(taken.host)",
                remedy: "give each host a name of its own (--host-name)")
        case let taken as HostTakenError where taken.isShutOut:
            StoreError(
                .shutOut, at: place,
                detail: "the secret was changed, or the state moved, while host \(taken.host) was silent")
        case let taken as HostTakenError:
            StoreError(
                .notOurs, at: place, detail: "another agent has become host \(taken.host) since",
                remedy: "stop one of the two, and give each host a name of its own (--host-name)")
        default: error
        }
    }

    private init(_ error: PostgresError, at place: String, isInDoubt: Bool = false) {
        let kind = Self.kind(of: error)
        let remedy: String? =
            switch kind {
            case .full: "make room on its server's disk"
            case .readOnly: "name the primary, or all hosts of its cluster"
            case .notOurs:
                "its user must be the database's owner, and its password the one in --database-password-file"
            default: nil
            }
        self.init(kind, at: place, detail: "\(error)", remedy: remedy, isInDoubt: isInDoubt)
    }

    /// The kind for a SQLSTATE (PostgreSQL's manual, appendix A).
    private static func kind(of error: PostgresError) -> Kind {
        if error.isAuthenticationFailure || error.isNotPermitted || error.isDatabaseMissing { return .notOurs }
        if error.isDiskFull { return .full }
        if error.isReadOnly { return .readOnly }
        if error.isToBeRepeated { return .busy }
        switch error.state {
        case "XX001", "XX002": return .corrupt
        case "58030": return .io
        default: break
        }
        let isInTheWay =
            error.isConnectionLost || error.isServerGoing || error.isTooManyConnections || error.isCancelled
            || error.isLockNotAvailable
        return isInTheWay ? .unreachable : .other
    }
}
#endif
