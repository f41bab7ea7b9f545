import IssuerProtocol
import Synchronization
import ThreeDS

/// The agent in numbers, at one moment; what is counted is counted since it started.
package struct AgentFigures: Sendable {
    /// What the store says of the moment.
    package struct Holdings: Sendable, Equatable {
        package var enrolling = 0
        package var active = 0
        package var suspended = 0
        /// Those for which the agent cannot do its work.
        package var troubled = 0
        /// The same by where the cause is.
        package var troubles: [Trouble.Cause: Int] = [:]
        /// Those whose issuer had accepted a signature that was not made here.
        package var signedElsewhere = 0
        package var pending = 0
        /// How many seconds ago the oldest pending request came; 0 if there is none.
        package var oldestPending: Int64 = 0
        /// Decisions that the issuer has not answered.
        package var queued = 0
        /// How many seconds ago the oldest of them was made; 0 if there is none.
        package var oldestQueued: Int64 = 0
    }

    package let version: String
    package let hasPersonas: Bool
    /// Seconds since 1970.
    package let startedAt: Int64
    package let isReady: Bool
    package let isStarting: Bool
    package let isStoreHealthy: Bool
    /// Whether clients can connect to the control socket.
    package let isSocketThere: Bool
    package let unusableKeys: Int
    package var descriptors = DescriptorFigures()
    /// Nil if the store cannot be read.
    package let holdings: Holdings?
    package let work: WorkCounts
    /// Messages that were not known before, by the way by which they came.
    package let pushed: Int
    package let polled: Int
    /// Messages that came again.
    package let repeated: Int
    package let refusedPushes: Int
    package let drops: [MessageDrop: Int]
    /// The seconds until an issuer that did not answer is asked again, by its URL.
    package let pauses: [String: Int64]
    /// Nil if the agent has its store to itself.
    package var hosts: HostFigures?
    /// None if the agent is not pushed to.
    package var pushConnections = PortFigures()

    /// Why the agent is not ready: the enrollments that cannot be served, by cause, and 1 for what concerns all.
    ///
    /// Without the enrollments if the store cannot be read.
    package var notReady: [Trouble.Cause: Int] {
        let own: [Trouble.Cause: Int] = [
            .starting: isStarting ? 1 : 0, .database: isStoreHealthy ? 0 : 1, .socket: isSocketThere ? 0 : 1,
            .descriptors: descriptors.shortage == nil ? 0 : 1,
        ]
        guard let holdings else { return own }
        let of: [Trouble.Cause] = [.key, .issuer, .suspended]
        return own.merging(of.map { ($0, holdings.troubles[$0] ?? 0) }) { own, _ in own }
    }
}

extension Agent {
    /// Also if the store cannot be read, which the figures say.
    package func figures() async -> AgentFigures {
        let holdings: AgentFigures.Holdings?
        do {
            try await workTally.readOn(in: ports.store)
            holdings = try await self.holdings()
        } catch {
            holdings = nil
        }
        let isStoreHealthy = holdings != nil && storeError == nil
        let (isSocketThere, descriptors) = (!processTroubles.has(.socket), ports.inspector.descriptors)
        let isProcessWell = !isStarting && isStoreHealthy && isSocketThere && descriptors.shortage == nil
        let facts = tally.all
        return AgentFigures(
            version: settings.version, hasPersonas: settings.hasPersonas, startedAt: workTally.startedAt,
            isReady: isProcessWell && holdings?.troubled == 0, isStarting: isStarting,
            isStoreHealthy: isStoreHealthy, isSocketThere: isSocketThere,
            unusableKeys: keyWatch.health.failing.count, descriptors: descriptors, holdings: holdings,
            work: workTally.counts,
            pushed: facts.reduce(0) { $0 + $1.firstByPush }, polled: facts.reduce(0) { $0 + $1.firstByPoll },
            repeated: facts.reduce(0) { $0 + $1.duplicates }, refusedPushes: facts.reduce(0) { $0 + $1.refused },
            drops: drops.all, pauses: health.pauses(now: ports.clock.now),
            hosts: ports.shares?.figures, pushConnections: pushReception?.connections.figures ?? PortFigures())
    }

    private func holdings() async throws -> AgentFigures.Holdings {
        let (tally, troubled, pending, oldest, queued, decided) = try await ports.store.read { store in
            (
                try store.enrollmentTally(), try self.troubleCauses(in: store),
                try store.pendingCount(enrollment: nil),
                try store.oldestPending(enrollment: nil), try store.outboxCount(enrollment: nil),
                try store.oldestQueuedDecision()
            )
        }
        var holdings = AgentFigures.Holdings(pending: pending, queued: queued)
        holdings.oldestPending = oldest.map { max(ports.clock.now.seconds(since: $0.receivedAt), 0) } ?? 0
        holdings.oldestQueued = decided.map { max(ports.clock.now.seconds(since: $0), 0) } ?? 0
        (holdings.enrolling, holdings.active, holdings.suspended) = (tally.enrolling, tally.active, tally.suspended)
        holdings.signedElsewhere = tally.signedElsewhere
        (holdings.troubled, holdings.troubles) = troubled
        return holdings
    }
}

/// Why a message of an issuer's is neither presented nor answered.
package enum MessageDrop: String, Sendable, CaseIterable {
    case reusedID = "reused_id"
    case overQuota = "over_quota"
    case future
    case notAuthentic = "not_authentic"
    case unanswerable
    /// It could not be judged, and was not held any longer.
    case notHeld = "not_held"
    /// A batch fetch's answer about an authenticator that it did not ask for.
    case notAsked = "not_asked"
}

/// How many messages were dropped since the agent started.
final class MessageDrops: Sendable {
    private let counts = Mutex<[MessageDrop: Int]>([:])

    func note(_ drop: MessageDrop) { counts.withLock { $0[drop, default: 0] += 1 } }

    var all: [MessageDrop: Int] { counts.withLock(\.self) }
}

/// The connections of a port: how many there are, and how many were closed from this side since the start.
package struct PortFigures: Sendable, Equatable {
    package let open: Int
    /// Newcomers for whom nobody could go.
    package let refused: Int
    /// Those that went for another.
    package let crowded: Int
    /// Those whose client took too long.
    package let slow: Int

    package init(open: Int = 0, refused: Int = 0, crowded: Int = 0, slow: Int = 0) {
        self.open = open
        self.refused = refused
        self.crowded = crowded
        self.slow = slow
    }
}

/// Knows whom to ask about a port's connections.
package final class PortTally: Sendable {
    private let source = Mutex<(@Sendable () -> PortFigures)?>(nil)

    /// Has whoever serves the port asked from now on.
    package func follow(_ source: @escaping @Sendable () -> PortFigures) { self.source.withLock { $0 = source } }

    /// None before anyone serves the port.
    var figures: PortFigures { source.withLock { $0 }?() ?? PortFigures() }
}
