package import Authenticator
import Synchronization

/// Who vouches for rows, and what this process has committed and read.
package struct Sealing: Sendable {
    let seals: any RowSeals
    package let seen = SeenVersions()
    let damaged = DamagedRows()

    /// Who seals the data keys of enrollments; nil if the store keeps their personal data as it is.
    let dataKeys: (any DataKeySeals)?

    /// Whether other hosts write to the same rows.
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
        let mark = seal.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
        return RowVersion(number: number, pinEpoch: pinEpoch, failures: failures, mark: mark)
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

/// The versions of the rows that this process has written last: of an older row nothing is used in what it writes.
///
/// Of each row at most 24 bytes and a dictionary's room are kept, and its wrong PINs while there are some.
package final class SeenVersions: Sendable {
    private struct Seen {
        var numbers: [UInt64: (number: Int64, mark: UInt64)] = [:]
        /// Of those rows alone whose wrong PINs were counted here since the last right one.
        var tries: [UInt64: (epoch: Int64, failures: Int)] = [:]
    }

    private let seen = Mutex(Seen())

    /// The least that the row has by now; nil if this process has not written it.
    subscript(row: SealedRow) -> RowVersion? {
        let key = Self.key(of: row)
        return seen.withLock { seen in
            guard let row = seen.numbers[key] else { return nil }
            let tries = seen.tries[key]
            return RowVersion(
                number: row.number, pinEpoch: tries?.epoch ?? 0, failures: tries?.failures ?? 0, mark: row.mark)
        }
    }

    /// After a database transaction was committed, and before the next one that writes.
    ///
    /// Of a commit that stays in doubt nothing is taken: the rows are then as they were known, or newer.
    package func take(_ written: Written) {
        guard !written.state.versions.isEmpty else { return }
        seen.withLock { seen in
            for (row, version) in written.state.versions {
                let key = Self.key(of: row)
                seen.numbers[key] = (version.number, version.mark)
                if version.failures > 0 {
                    seen.tries[key] = (version.pinEpoch, version.failures)
                } else if !seen.tries.isEmpty {
                    seen.tries[key] = nil
                }
            }
        }
    }

    /// 64 bits of the row's hash, under a seed that each process draws anew, so that nobody can make two rows share them.
    ///
    /// Two of a million rows share them with a probability of 3 in 10^8.
    private static func key(of row: SealedRow) -> UInt64 { UInt64(bitPattern: Int64(row.hashValue)) }
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
