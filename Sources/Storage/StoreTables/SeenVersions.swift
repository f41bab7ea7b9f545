package import Keys
package import Records
import Synchronization
import TableRows

/// Who vouches for rows, and what this process has committed and read.
package struct Sealing: Sendable {
    let seals: any RowSeals
    package let seen = SeenVersions()
    let damaged = DamagedRows()

    /// Seals and opens the data keys of enrollments.
    let dataKeys: any DataKeySeals
    let rowKey = SeenRowKey()

    /// Whether other hosts write to the same rows.
    let isShared: Bool

    package init(seals: any RowSeals, dataKeys: any DataKeySeals, isShared: Bool = false) {
        self.seals = seals
        self.dataKeys = dataKeys
        self.isShared = isShared
    }

    /// Takes what a committed database transaction has written, and runs its actions for after the commit.
    ///
    /// Called before the next database transaction that writes.
    ///
    /// Not called while it is in doubt whether it was committed.
    package func conclude(_ written: Written) {
        seen.take(written)
        for action in written.state.actions { action() }
    }
}

/// A row that has a seal.
enum SealedRow: Hashable {
    case enrollment(EnrollmentID)
    case keyTries(KeyIdentity)
}

/// Which writing of a row it is, under the row's seal: a row that is put back is an older one, and says so.
struct RowVersion: Sendable, Equatable {
    /// Above this no version is counted on from: only a row that the agent did not write has it.
    private static let greatest = Int64.max / 2

    /// 1 for a new row, and 1 more each time that it is written, by whichever host.
    let number: Int64
    /// Number of times that its count of wrong PINs fell.
    let pinEpoch: Int64
    /// Its count of wrong PINs.
    let failures: Int
    /// The end of its seal: a row of a write that was undone has the number of the next one, and another seal.
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

    /// The version of the same row when it is written next.
    ///
    /// - Parameter seen: the newest one that is known, for a row that is not as the agent wrote it; its numbers are
    ///   whatever someone wrote there.
    static func next(after old: RowVersion?, seen: RowVersion?, failures: Int) -> RowVersion {
        let number = max(old?.number ?? 0, seen?.number ?? 0)
        let epoch = max(old?.pinEpoch ?? 0, seen?.pinEpoch ?? 0)
        let counted = max(old?.failures ?? 0, seen?.failures ?? 0)
        return RowVersion(
            number: min(number, greatest) + 1, pinEpoch: min(epoch, greatest) + (failures < counted ? 1 : 0),
            failures: failures)
    }

    /// Whether a row with this version can follow one with the other, or be that one.
    ///
    /// Its wrong PINs are looked at too: another host may have written on an older row that was put back for it.
    func isAtLeast(_ seen: RowVersion) -> Bool {
        (number > seen.number || number == seen.number && mark == seen.mark)
            && (pinEpoch, failures) >= (seen.pinEpoch, seen.failures)
    }
}

/// The versions of the rows that this process has written last, or read in a survey: of an older row nothing is used in
/// what it writes.
///
/// Of each row at most 32 bytes and a dictionary's room are kept, and its wrong PINs while there are some.
package final class SeenVersions: Sendable {
    /// The version that is remembered of a row.
    private struct Version {
        var number: Int64
        var mark: UInt64
        /// The number of the survey that has read it last, or of the last one that had begun when it was written.
        var survey: UInt32
    }

    private struct Seen {
        var versions: [UInt64: Version] = [:]
        /// Of those rows alone whose wrong PINs were counted here since the last right one.
        var tries: [UInt64: (epoch: Int64, failures: Int)] = [:]
        var survey: UInt32 = 0
        /// Where each chain ended in the last survey that found all rows as they were written; empty before the first.
        var ends: [String: Int64] = [:]
    }

    private let seen = Mutex(Seen())

    /// The least that the row has by now; nil if this process has neither written nor read it.
    subscript(row: SealedRow) -> RowVersion? {
        let key = Self.key(of: row)
        return seen.withLock { seen in
            guard let row = seen.versions[key] else { return nil }
            let tries = seen.tries[key]
            return RowVersion(
                number: row.number, pinEpoch: tries?.epoch ?? 0, failures: tries?.failures ?? 0, mark: row.mark)
        }
    }

    /// Whether a survey would have read a row that a host wrote when its chain had so many entries: one that it has not
    /// read had ended, or was gone.
    ///
    /// - Parameter isShared: whether hosts share the store, of which a new one may have no chain yet.
    func hasSurveyed(_ host: String?, through sequence: Int64, isShared: Bool) -> Bool {
        seen.withLock { seen in
            guard !seen.ends.isEmpty else { return false }
            if let end = seen.ends[host ?? ""] { return sequence < end }
            // Of the store from which this one was moved.
            return isShared == (host == nil)
        }
    }

    /// After a database transaction was committed, and before the next one that writes.
    ///
    /// Of a commit that stays in doubt nothing is taken: the rows are then as they were known, or newer.
    func take(_ written: Written) {
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

    /// Begins a survey: rows that are written from now on stay remembered whether it reads them or not.
    ///
    /// - Returns: its number; another one may begin before it ends.
    func beginSurvey() -> UInt32 {
        seen.withLock { seen in
            seen.survey += 1
            return seen.survey
        }
    }

    /// Takes a row that a survey has read.
    ///
    /// - Returns: whether it is older than it was when the survey began.
    func note(_ row: SealedRow, _ mark: RowMark, in survey: UInt32) -> Bool {
        let key = Self.key(of: row)
        return seen.withLock { seen in
            guard let known = seen.versions[key] else {
                if mark.isLive {
                    seen.versions[key] = Version(number: mark.version, mark: mark.seal.mark, survey: survey)
                }
                return false
            }
            // A row that was written since it began, or read by a later one, is newer than this one.
            guard known.survey < survey else { return false }
            let isSame = mark.version == known.number && mark.seal.mark == known.mark
            guard isSame || mark.version > known.number else { return true }
            if mark.isLive { seen.versions[key] = Version(number: mark.version, mark: mark.seal.mark, survey: survey) }
            return false
        }
    }

    /// Forgets what ended: a row that a survey would have read is refused without that.
    func conclude(_ survey: UInt32, heads: [String: Int64]) {
        seen.withLock { seen in
            for key in seen.versions.filter({ $0.value.survey < survey }).keys {
                seen.versions[key] = nil
                seen.tries[key] = nil
            }
            // Another one may have begun later, and ended before.
            seen.ends.merge(heads) { max($0, $1) }
        }
    }

    /// 64 bits of the row's hash, under a seed that each process draws anew, so that nobody can make two rows share them.
    ///
    /// Two of a million rows share them with a probability of 3 in 10^8.
    private static func key(of row: SealedRow) -> UInt64 { UInt64(bitPattern: Int64(row.hashValue)) }
}

extension [UInt8] {
    /// The end of a seal, by which one is told from another of the same version.
    fileprivate var mark: UInt64 { suffix(8).reduce(0) { $0 << 8 | UInt64($1) } }
}

/// The key of the rows' terms, once it was read from the store, and the sum that was sealed last.
///
/// The sum saves opening what the commit before has sealed. Together with texts of digests that are made at once, a receive
/// has 7 % fewer instructions (`Benchmarks/guard.py`).
final class SeenRowKey: Sendable {
    private let state = Mutex<(key: DataKey?, sum: RowSum, sealed: [UInt8])>((nil, .zero, []))

    var value: DataKey? {
        get { state.withLock(\.key) }
        set { state.withLock { $0.key = newValue } }
    }

    /// Nil if it is not what was sealed last.
    func sum(sealedAs bytes: [UInt8]) -> RowSum? { state.withLock { $0.sealed == bytes ? $0.sum : nil } }

    func note(_ sum: RowSum, sealedAs bytes: [UInt8]) { state.withLock { ($0.sum, $0.sealed) = (sum, bytes) } }
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
        var versions: [SealedRow: RowVersion] = [:]
        /// Nil: it was looked for, and there is none.
        var marks: [JournalMark.Name: JournalMark?] = [:]
        /// As they were read since they are held, or as they were changed to; nothing else can have changed them.
        var enrollments: [EnrollmentID: Enrollment] = [:]
        var entries: [JournalEntry] = []
        /// The actions for after the commit; those of an undone part go with it.
        var actions: [@Sendable () -> Void] = []

        /// As they were read, or are by what was written since.
        var rows: [SealedRow: RowMark] = [:]
        /// Whether the head does not vouch yet for rows that were written.
        var isSumDue = false
        /// By how much this host's sum changes.
        var rowChange = RowSum.zero
        /// In the place of the sum that was committed last.
        var rowSum: RowSum?
        /// Nil: it was not looked for; nil in it: there is none.
        var committedHead: JournalMark??
        var rowTerms: RowTerms?
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

    package func seal(rowKey key: DataKey) -> [UInt8] { unsafe key.secret.withBytes { unsafe Array($0) } }

    package func openRowKey(_ sealed: [UInt8]) throws -> DataKey {
        guard let key = DataKey(Secret(sealed)) else { throw RowKeyColumn.table.unreadable(.sealed) }
        return key
    }
}
