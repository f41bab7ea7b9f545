import Authenticator
import Synchronization

/// Who vouches for rows, and what this process has committed.
struct Sealing: Sendable {
    let seals: any RowSeals
    let committed = CommittedSeals()
    let damaged = DamagedRows()
}

/// A row that has a seal.
enum SealedRow: Hashable {
    case enrollment(EnrollmentID)
    case keyTries(KeyIdentity)
}

/// The seals that this process has committed: an older row that is put back has another one.
final class CommittedSeals: Sendable {
    private let seals = Mutex<[SealedRow: [UInt8]]>([:])

    subscript(row: SealedRow) -> [UInt8]? { seals.withLock { $0[row] } }

    /// Before the next database transaction that writes.
    func take(_ written: WrittenSeals) {
        let newest = written.seals
        seals.withLock { $0.merge(newest) { $1 } }
    }

    func forget() { seals.withLock { $0 = [:] } }
}

/// The enrollments whose rows were not as the agent wrote them when they were read last.
final class DamagedRows: Sendable {
    private let ids = Mutex<Set<EnrollmentID>>([])

    var all: Set<EnrollmentID> { ids.withLock(\.self) }

    func note(_ id: EnrollmentID, isDamaged: Bool) {
        ids.withLock { ids in
            if isDamaged { ids.insert(id) } else if !ids.isEmpty { ids.remove(id) }
        }
    }
}

/// The seals that one database transaction has written so far.
final class WrittenSeals {
    /// Empty for a row that was removed.
    var seals: [SealedRow: [UInt8]] = [:]
}

/// Vouches for every row, whoever wrote it: for a store that is a test's own.
package struct NoRowSeals: RowSeals {
    package init() {}

    package func seal(_ bytes: [UInt8]) -> [UInt8] { [] }

    package func isSeal(_ seal: [UInt8], of bytes: [UInt8]) -> Bool { true }
}
