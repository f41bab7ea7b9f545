package import Authenticator
import Synchronization

/// Who vouches for rows, and what this process has committed and read.
package struct Sealing: Sendable {
    let seals: any RowSeals
    package let committed = CommittedSeals()
    let damaged = DamagedRows()
    package let known = KnownEnrollments()

    /// Who seals the data keys of enrollments; nil if the store keeps their personal data as it is.
    let dataKeys: (any DataKeySeals)?

    /// Whether other hosts write to the same rows: then what this process knows of them may be old.
    let isShared: Bool

    package init(seals: any RowSeals, dataKeys: (any DataKeySeals)? = nil, isShared: Bool = false) {
        self.seals = seals
        self.dataKeys = dataKeys
        self.isShared = isShared
    }
}

/// A row that has a seal.
enum SealedRow: Hashable {
    case enrollment(EnrollmentID)
    case keyTries(KeyIdentity)
}

/// The seals that this process has committed: an older row that is put back has another one.
package final class CommittedSeals: Sendable {
    private let seals = Mutex<[SealedRow: [UInt8]]>([:])

    subscript(row: SealedRow) -> [UInt8]? { seals.withLock { $0[row] } }

    /// Before the next database transaction that writes.
    package func take(_ written: Written) {
        let newest = written.state.seals
        seals.withLock { $0.merge(newest) { $1 } }
    }

    package func forget() { seals.withLock { $0 = [:] } }
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

/// Enrollments as they were read from whole rows, each with its row's seal.
///
/// A row with another seal is another row, whoever has written it, so what is known never outlives what the database
/// says. A key of an external one has wrong PINs that another row counts; what is over may be erased; both are read anew.
///
/// Five of an approval's six reads of its enrollment are of one that is known. Such a read takes 0.02 million instructions
/// under callgrind, a whole row with its seal 0.14, and an approval 8.0 (`make bench ONLY=instructions`).
package final class KnownEnrollments: Sendable {
    /// The most that are known: about 1 MB.
    private static let limit = 512

    private struct State {
        var rows: [EnrollmentID: (enrollment: Enrollment, seal: [UInt8])] = [:]
        var version: Int64?
    }

    private let state = Mutex(State())

    subscript(id: EnrollmentID) -> (enrollment: Enrollment, seal: [UInt8])? { state.withLock { $0.rows[id] } }

    /// Forgets all if something else than the agent has written since the last database transaction that wrote: it may
    /// have changed a row and left the seal.
    ///
    /// - Parameter version: SQLite's data_version, of the connection that writes.
    package func expect(_ version: Int64?) {
        state.withLock { state in
            if state.version != version { state.rows = [:] }
            state.version = version
        }
    }

    func take(_ enrollment: Enrollment, seal: [UInt8]) {
        guard !enrollment.isDamaged, !enrollment.isOver, enrollment.key.external == nil, !seal.isEmpty else { return }
        state.withLock { state in
            if state.rows.count >= Self.limit, state.rows[enrollment.id] == nil { state.rows = [:] }
            state.rows[enrollment.id] = (enrollment, seal)
        }
    }

    func forget(_ id: EnrollmentID) { state.withLock { _ = $0.rows.removeValue(forKey: id) } }
}

/// What one database transaction that writes has read of the journal's marks, and written so far.
package final class Written {
    struct State {
        /// The pieces of requests as they were read, until more is kept.
        var pieces: [RequestID: KeptPieces] = [:]
        /// Empty for a row that was removed.
        var seals: [SealedRow: [UInt8]] = [:]
        /// Nil: it was looked for, and there is none.
        var marks: [JournalMark.Name: JournalMark?] = [:]
        /// As they were read since they are held, or as they were changed to; nothing else can have changed them.
        var enrollments: [EnrollmentID: Enrollment] = [:]
        var entries: [JournalEntry] = []
    }

    /// As it was before a part that was undone, that is set again.
    var state = State()

    package init() {}
}

/// Vouches for every row, whoever wrote it: for a store that is a test's own.
package struct NoRowSeals: RowSeals {
    package init() {}

    package func seal(_ bytes: [UInt8]) -> [UInt8] { [] }

    package func isSeal(_ seal: [UInt8], of bytes: [UInt8]) -> Bool { true }
}
