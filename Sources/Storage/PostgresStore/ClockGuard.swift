#if PostgreSQL
import Records
import Synchronization

/// Compares this host's clock with the database's, and refuses writes if they are too far apart.
///
/// Expiry is judged by the host's clock: a host that is one hour ahead would expire requests that others can still
/// decide.
final class ClockGuard: Sendable {
    /// The largest allowed difference, in seconds.
    static let tolerance: Int64 = 30

    /// A reading of this host's clocks, wall and steady.
    struct Reading: Sendable {
        let wall: Int64
        let steady: Double
    }

    private let clock: (any AgentClock)?
    private let last = Mutex<Int64>(0)

    /// - Parameter clock: the machine's clock. `nil` skips the comparison, for example in a test.
    init(_ clock: (any AgentClock)?) { self.clock = clock }

    /// The seconds by which this host's clock was ahead of the database's in the last comparison.
    var secondsAhead: Int64 { last.withLock(\.self) }

    func reading() -> Reading? { clock.map { Reading(wall: $0.now, steady: $0.steady) } }

    /// - Parameters:
    ///   - database: a reading of the database's clock after `begun`, in seconds since 1970.
    ///   - begun: this host's clocks before the database was asked, when the caller wanted the write.
    /// - Throws: ``ClocksApartError``.
    func expectClose(_ database: Int64, since begun: Reading?) throws(ClocksApartError) {
        guard let begun, let end = reading() else { return }
        let elapsed = Int64(max(0, end.steady - begun.steady).rounded(.up))
        // Both readings allow for the time that may have passed between them and the database's.
        let ahead = max(begun.wall - database, end.wall - elapsed - database)
        let behind = max(database - begun.wall - elapsed, database - end.wall)
        last.withLock { $0 = ahead > 0 ? ahead : min(0, -behind) }
        guard max(ahead, behind) <= Self.tolerance else {
            throw ClocksApartError(seconds: max(ahead, behind), isAhead: ahead > behind)
        }
    }
}

/// The difference between the clocks exceeds ``ClockGuard/tolerance``.
struct ClocksApartError: Error {
    let seconds: Int64
    let isAhead: Bool
}
#endif
