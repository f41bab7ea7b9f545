import Records
import Synchronization

/// Decisions that were known to be committed only after their deadline; each until its `exp`, after which nothing is sent.
///
/// Whoever asked may have been told from which moment on nothing is decided any more, so none of these is sent. A process that
/// is killed before it knows of the commit keeps nothing: what it committed is sent, as it may have been acknowledged.
final class LateDecisions: Sendable {
    private let exps = Mutex<[RequestID: Int64]>([:])

    /// Forgets those that are past their `exp`; all times are in seconds since 1970.
    func insert(_ id: RequestID, at now: Int64, until exp: Int64) {
        exps.withLock { exps in
            exps = exps.filter { $0.value > now }
            exps[id] = exp
        }
    }

    func contains(_ id: RequestID) -> Bool { exps.withLock { $0[id] != nil } }
}
