internal import FairSharing
internal import IssuerProtocol
internal import NIOCore
import Records
internal import Synchronization

/// Limits for the connections to issuers: one for polls, and another for calls, which polls never use up.
///
/// Issuers get places in turn.
struct ConnectionPlaces: Sendable {
    typealias Queue = FairQueue<IssuerURL>

    private let polls: Queue
    private let calls: Queue
    private let seconds: Double
    private let clock: any AgentClock

    init(_ limits: TransportLimits, _ clock: any AgentClock) {
        // An issuer that answers no poll leaves an eighth of the places to others.
        polls = Queue(.init(capacity: limits.polls, capacityOfKey: limits.polls - limits.polls / 8))
        // An issuer that does not answer leaves places for the decisions of others.
        calls = Queue(.init(capacity: limits.calls, capacityOfKey: max(limits.calls / 2, 1)))
        seconds = limits.placeSeconds
        self.clock = clock
    }

    /// Waits for a place, at most until the limit.
    func wait(for issuer: IssuerURL, _ pool: IssuerCall.ConnectionPool) async throws(IssuerError) -> Queue.Ticket {
        let queue = pool == .polls ? polls : calls
        if let ticket = queue.enterAtOnce(issuer) { return ticket }
        do {
            return try await cuttable {
                try await queue.wait(issuer)
            } whenBegun: { [clock, seconds] cut in
                let alarm = clock.alarm(after: seconds, cut)
                return { alarm.cancel() }
            }
        } catch {
            if Task.isCancelled { throw .cancelled }
            throw .transient(
                reason: "all connections that issuers may take were busy for \(Int(seconds)) s", retryAfter: nil)
        }
    }
}

/// Counter of open connections.
final class OpenConnections: Sendable {
    private let open = Atomic(0)

    var count: Int { open.load(ordering: .relaxed) }

    func follow(_ channel: any Channel) {
        open.add(1, ordering: .relaxed)
        channel.closeFuture.whenComplete { [self] _ in open.subtract(1, ordering: .relaxed) }
    }
}
