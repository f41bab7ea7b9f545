#if PostgreSQL
import Records
import Synchronization

/// Holds this host's clock against the database's, and refuses what a host would write by a wrong one.
///
/// What has expired is judged by the host's clock: one that is an hour ahead would end what others can still decide.
final class ClockGuard: Sendable {
    /// How many seconds the two may be apart.
    static let tolerance: Int64 = 30

    /// This host's clock at one moment.
    struct Reading: Sendable {
        let wall: Int64
        let steady: Double
    }

    private let clock: (any AgentClock)?
    private let last = Mutex<Int64>(0)

    /// - Parameter clock: the machine's; nil for one that no database's can be held against, as in a test.
    init(_ clock: (any AgentClock)?) { self.clock = clock }

    /// How many seconds this host's clock was ahead of the database's when they were compared last.
    var secondsAhead: Int64 { last.withLock(\.self) }

    func reading() -> Reading? { clock.map { Reading(wall: $0.now, steady: $0.steady) } }

    /// - Parameters:
    ///   - database: what its clock said at some moment since then, in seconds since 1970.
    ///   - begun: this host's before that was asked, and when what is written was wanted.
    /// - Throws: ``ClocksApartError``.
    func check(_ database: Int64, since begun: Reading?) throws(ClocksApartError) {
        guard let begun, let end = reading() else { return }
        let elapsed = Int64(max(0, end.steady - begun.steady).rounded(.up))
        // Each of the two readings with what may have passed between it and the database's.
        let ahead = max(begun.wall - database, end.wall - elapsed - database)
        let behind = max(database - begun.wall - elapsed, database - end.wall)
        last.withLock { $0 = ahead > 0 ? ahead : min(0, -behind) }
        guard max(ahead, behind) <= Self.tolerance else {
            throw ClocksApartError(seconds: max(ahead, behind), isAhead: ahead > behind)
        }
    }
}

/// The host's clock and the database's are further apart than ``ClockGuard/tolerance``.
struct ClocksApartError: Error {
    let seconds: Int64
    let isAhead: Bool
}
#endif
