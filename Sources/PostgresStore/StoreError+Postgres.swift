#if PostgreSQL
import Authenticator
import PostgresRows
import TableRows

extension StoreError {
    /// What PostgreSQL's errors mean to the agent; one of another kind as it is.
    static func naming(_ error: any Error, _ place: String) -> any Error {
        switch error {
        case let error as PostgresError: StoreError(kind(of: error), at: place, detail: "\(error)")
        case let doubt as CommitInDoubtError:
            StoreError(kind(of: doubt.cause), at: place, detail: "\(doubt.cause)", isInDoubt: true)
        case let row as UnreadableRowError: StoreError(.corrupt, at: place, detail: "\(row)")
        case let journal as ForgedJournalError: StoreError(.forged, at: place, detail: "\(journal)")
        case let unknown as PostgresSchema.UnknownChangesError:
            StoreError(.newerSchema, at: place, detail: "it knows \(unknown.names.joined(separator: ", "))")
        case let unfit as PostgresServer.UnfitError: StoreError(.other, at: place, detail: unfit.reason)
        case let taken as HostNameTakenError:
            StoreError(
                .notOurs, at: place,
                detail: "an agent on another machine runs as host \(taken.host): give each host a name of its own")
        case let taken as HostTakenError:
            StoreError(.notOurs, at: place, detail: "another agent has become host \(taken.host) since")
        default: error
        }
    }

    /// By SQLSTATE (PostgreSQL's manual, appendix A).
    private static func kind(of error: PostgresError) -> Kind {
        guard !error.isConnectionLost, let state = error.state else { return .unreachable }
        return switch state {
        case "53100": .full
        case "25006": .readOnly
        case "55P03", "57014": .busy
        case "XX001", "XX002": .corrupt
        case "42501", "28000", "28P01": .notOurs
        case "58030": .io
        case _ where state.hasPrefix("57P") || state.hasPrefix("08") || state == "53300": .unreachable
        default: .other
        }
    }
}
#endif
