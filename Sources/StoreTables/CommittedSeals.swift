package import Authenticator
import Synchronization

/// Who vouches for rows, and what this process has committed and read.
package struct Sealing: Sendable {
    let seals: any RowSeals
    package let committed = CommittedSeals()
    let damaged = DamagedRows()

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
