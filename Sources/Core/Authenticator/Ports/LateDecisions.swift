import Records
import Synchronization

/// Decisions whose commit became known only after their deadline, each until its `exp`.
///
/// The caller may have been told a time after which no decision is made, so these decisions are never sent. After `exp`
/// no decision is sent in any case. A process that is killed before it learns of the commit has no record of it. Such a
/// decision is sent, as it may have been acknowledged.
final class LateDecisions: Sendable {
    private let exps = Mutex<[RequestID: Int64]>([:])

    /// Adds a decision, and removes decisions past their `exp`.
    ///
    /// All times are in seconds since 1970.
    func insert(_ id: RequestID, at now: Int64, until exp: Int64) {
        exps.withLock { exps in
            exps = exps.filter { $0.value > now }
            exps[id] = exp
        }
    }

    func contains(_ id: RequestID) -> Bool { exps.withLock { $0[id] != nil } }
}
