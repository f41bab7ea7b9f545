package import Keys
package import Records
import Synchronization
import TableRows

/// The sealing of rows, and the newest row versions that this process has committed or read.
package struct Sealing: Sendable {
    let seals: any RowSeals
    package let seen = SeenVersions()
    let damaged = DamagedRows()

    let dataKeys: any DataKeySeals
    let rowKey = SeenRowKey()

    /// Whether other hosts write to the same rows.
    let isShared: Bool

    package init(seals: any RowSeals, dataKeys: any DataKeySeals, isShared: Bool = false) {
        self.seals = seals
        self.dataKeys = dataKeys
        self.isShared = isShared
    }

    /// Records the writes of a committed database transaction, and runs its after-commit actions.
    ///
    /// Call it before the next database transaction that writes. Do not call it while the outcome of the commit is in
    /// doubt.
    package func conclude(_ written: Written) {
        seen.record(written)
        for action in written.state.actions { action() }
    }
}

/// The key of a row that has a seal.
enum SealedRow: Hashable {
    case enrollment(EnrollmentID)
    case keyTries(KeyIdentity)
}

/// The version of a row, covered by the row's seal.
///
/// A row that was put back shows an older version.
struct RowVersion: Sendable, Equatable {
    /// The limit from which versions are not counted up.
    ///
    /// Only a row that the agent did not write exceeds it.
    private static let greatest = Int64.max / 2

    /// The number of writes of the row, on any host: 1 for a new row.
    let number: Int64
    /// The number of times that the count of wrong PINs fell.
    let pinEpoch: Int64
    /// The count of wrong PINs.
    let failures: Int
    /// The last 8 bytes of the seal.
    ///
    /// A rolled-back write and the write after it have the same number, but different seals.
    private(set) var mark: UInt64 = 0

    init(number: Int64, pinEpoch: Int64, failures: Int, mark: UInt64 = 0) {
        self.number = number
        self.pinEpoch = pinEpoch
        self.failures = failures
        self.mark = mark
    }

    func sealed(by seal: [UInt8]) -> RowVersion {
        RowVersion(number: number, pinEpoch: pinEpoch, failures: failures, mark: seal.mark)
    }

    /// Returns the version for the next write of a row.
    ///
    /// - Parameter seen: the newest known version. It matters if the agent did not write `old`, because then the
    ///   numbers of `old` are arbitrary.
    static func next(after old: RowVersion?, seen: RowVersion?, failures: Int) -> RowVersion {
        let number = max(old?.number ?? 0, seen?.number ?? 0)
        let epoch = max(old?.pinEpoch ?? 0, seen?.pinEpoch ?? 0)
        let counted = max(old?.failures ?? 0, seen?.failures ?? 0)
        return RowVersion(
            number: min(number, greatest) + 1, pinEpoch: min(epoch, greatest) + (failures < counted ? 1 : 0),
            failures: failures)
    }

    /// Whether a row with this version is the row of the version `seen`, or a later one.
    ///
    /// Wrong PINs are compared too: another host may have written on top of an older row that was put back.
    func isAtLeast(_ seen: RowVersion) -> Bool {
        (number > seen.number || number == seen.number && mark == seen.mark)
            && (pinEpoch, failures) >= (seen.pinEpoch, seen.failures)
    }
}

/// The newest version of each row that this process has written, or read in a survey.
///
/// No write of this process uses an older row. The cache has at most 32 bytes and a dictionary entry for each row, and
/// the wrong PINs of a row while there are some.
package final class SeenVersions: Sendable {
    /// The remembered version of a row.
    private struct Version {
        var number: Int64
        var mark: UInt64
        /// The last survey that read the row, or the newest survey that had begun when the row was written.
        var survey: UInt32
    }

    private struct Seen {
        var versions: [UInt64: Version] = [:]
        /// The wrong PINs of the rows for which this process has counted one since the last right PIN.
        var tries: [UInt64: (epoch: Int64, failures: Int)] = [:]
        var survey: UInt32 = 0
        /// The end of each host's chain in the last survey that agreed.
        ///
        /// Empty before the first.
        var ends: [String: Int64] = [:]
    }

    private let seen = Mutex(Seen())

    /// The oldest version that the row can have by now, or `nil` if this process has neither written nor read the row.
    subscript(row: SealedRow) -> RowVersion? {
        let key = Self.key(of: row)
        return seen.withLock { seen in
            guard let row = seen.versions[key] else { return nil }
            let tries = seen.tries[key]
            return RowVersion(
                number: row.number, pinEpoch: tries?.epoch ?? 0, failures: tries?.failures ?? 0, mark: row.mark)
        }
    }

    /// Whether a row written by `host` at journal entry `sequence` is covered by the last survey that agreed.
    ///
    /// If the survey covers the row but has not read it, the row had ended or was missing.
    ///
    /// - Parameter isShared: whether hosts share the store. A new host may have no chain yet.
    func hasSurveyed(_ host: String?, through sequence: Int64, isShared: Bool) -> Bool {
        seen.withLock { seen in
            guard !seen.ends.isEmpty else { return false }
            if let end = seen.ends[host ?? ""] { return sequence < end }
            // The row comes from the store from which this one was moved.
            return isShared == (host == nil)
        }
    }

    /// Records the versions of a committed database transaction.
    ///
    /// Call it before the next write. A commit in doubt records no version: its rows are then as they were known, or
    /// newer.
    func record(_ written: Written) {
        guard !written.state.versions.isEmpty else { return }
        seen.withLock { seen in
            for (row, version) in written.state.versions {
                let key = Self.key(of: row)
                seen.versions[key] = Version(number: version.number, mark: version.mark, survey: seen.survey)
                if version.failures > 0 {
                    seen.tries[key] = (version.pinEpoch, version.failures)
                } else if !seen.tries.isEmpty {
                    seen.tries[key] = nil
                }
            }
        }
    }

    /// Begins a survey.
    ///
    /// Rows that are written from now on stay remembered, even if the survey does not read them.
    ///
    /// - Returns: the survey's number. Another survey may begin before this one ends.
    func beginSurvey() -> UInt32 {
        seen.withLock { seen in
            seen.survey += 1
            return seen.survey
        }
    }

    /// Records a row that a survey has read.
    ///
    /// - Returns: whether the row is older than the version that was known when the survey began.
    func record(_ row: SealedRow, _ mark: RowMark, in survey: UInt32) -> Bool {
        let key = Self.key(of: row)
        return seen.withLock { seen in
            guard let known = seen.versions[key] else {
                if mark.isLive {
                    seen.versions[key] = Version(number: mark.version, mark: mark.seal.mark, survey: survey)
                }
                return false
            }
            // A row that was written after this survey began, or read by a later survey, is newer than this one.
            guard known.survey < survey else { return false }
            let isSame = mark.version == known.number && mark.seal.mark == known.mark
            guard isSame || mark.version > known.number else { return true }
            if mark.isLive { seen.versions[key] = Version(number: mark.version, mark: mark.seal.mark, survey: survey) }
            return false
        }
    }

    /// Drops the rows that the survey did not read.
    ///
    /// ``hasSurveyed(_:through:isShared:)`` lets readers refuse them from now on.
    func conclude(_ survey: UInt32, heads: [String: Int64]) {
        seen.withLock { seen in
            for key in seen.versions.filter({ $0.value.survey < survey }).keys {
                seen.versions[key] = nil
                seen.tries[key] = nil
            }
            // Another survey may have begun later and ended earlier.
            seen.ends.merge(heads) { max($0, $1) }
        }
    }

    /// The row's hash, 64 bits, under a seed that is random for each process, so nobody can force a collision.
    ///
    /// Among a million rows, two share a hash with a probability of 3 in 10^8.
    private static func key(of row: SealedRow) -> UInt64 { UInt64(bitPattern: Int64(row.hashValue)) }
}

extension [UInt8] {
    /// The last 8 bytes of a seal.
    ///
    /// They tell two writes of the same version apart.
    fileprivate var mark: UInt64 { suffix(8).reduce(0) { $0 << 8 | UInt64($1) } }
}

/// A cache of the row key, once it was read from the store, and of the sum that was sealed last.
///
/// With the cached sum, a commit need not decrypt the sum of the commit before. Together with digest texts that are
/// made in one pass, this saves 7 % of the instructions of a receive (`Benchmarks/guard.py`).
final class SeenRowKey: Sendable {
    private let state = Mutex<(key: DataKey?, sum: RowSum, sealed: [UInt8])>((nil, .zero, []))

    var value: DataKey? {
        get { state.withLock(\.key) }
        set { state.withLock { $0.key = newValue } }
    }

    /// Returns the cached sum, or `nil` if `bytes` is not the sum that was sealed last.
    func sum(sealedAs bytes: [UInt8]) -> RowSum? { state.withLock { $0.sealed == bytes ? $0.sum : nil } }

    func cache(_ sum: RowSum, sealedAs bytes: [UInt8]) { state.withLock { ($0.sum, $0.sealed) = (sum, bytes) } }
}

/// The enrollments whose rows, when last read, were not as the agent wrote them.
final class DamagedRows: Sendable {
    private let ids = Mutex<Set<EnrollmentID>>([])

    var all: Set<EnrollmentID> { ids.withLock(\.self) }

    func record(_ id: EnrollmentID, isDamaged: Bool) {
        ids.withLock { ids in
            if isDamaged { ids.insert(id) } else if !ids.isEmpty { ids.remove(id) }
        }
    }
}

/// The journal marks and rows that one writing database transaction has read and written so far.
package final class Written {
    struct State {
        /// The evidence of requests, as it was read.
        ///
        /// An entry is removed once more evidence of its request is stored.
        var pieces: [RequestID: KeptPieces] = [:]
        var versions: [SealedRow: RowVersion] = [:]
        /// The marks that were read.
        ///
        /// A value of `nil` records that the store has no such mark.
        var marks: [JournalMark.Name: JournalMark?] = [:]
        /// The enrollments that were read under a lock or written here, so nobody else can have changed them.
        var enrollments: [EnrollmentID: Enrollment] = [:]
        var entries: [JournalEntry] = []
        /// The actions to run after the commit.
        ///
        /// Undoing a part of the database transaction removes the part's actions.
        var actions: [@Sendable () -> Void] = []

        /// Rows as they were read, or as this database transaction has written them since.
        var rows: [SealedRow: RowMark] = [:]
        /// Whether rows were written that the head's sum does not cover yet.
        var isSumDue = false
        /// The change of this host's row sum.
        var rowChange = RowSum.zero
        /// The sum that replaces the committed one, or `nil` if none was set.
        var rowSum: RowSum?
        /// The committed head.
        ///
        /// `nil` before it is read, `.some(nil)` if the store has none.
        var committedHead: JournalMark??
        var rowTerms: RowTerms?
    }

    /// Restored when a part of the database transaction is undone.
    var state = State()

    package init() {}
}

/// Row seals that accept every row, for the store of a test.
package struct NoRowSeals: RowSeals {
    package init() {}

    package func seal(_ bytes: [UInt8]) -> [UInt8] { [] }

    package func isSeal(_ seal: [UInt8], of bytes: [UInt8]) -> Bool { true }

    package func seal(rowKey key: DataKey) -> [UInt8] { unsafe key.secret.withBytes { unsafe Array($0) } }

    package func openRowKey(_ sealed: [UInt8]) throws -> DataKey {
        guard let key = DataKey(Secret(sealed)) else { throw RowKeyColumn.table.unreadable(.sealed) }
        return key
    }
}
