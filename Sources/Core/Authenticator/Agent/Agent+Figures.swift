import Journal
import Records
import StoreTables
import TextAndTime

extension Agent {
    /// Returns the agent's figures, even if the store cannot be read.
    ///
    /// The figures report that the store cannot be read.
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
        let doubts = ports.headStanding.doubts.map(\.cause)
        let isClockAhead = ports.provenTime.isClockAhead
        let isProcessWell =
            !isStarting && isStoreHealthy && isSocketThere && descriptors.shortage == nil && doubts.isEmpty
            && !isClockAhead
        let facts = tally.all
        return AgentFigures(
            version: settings.version, hasPersonas: settings.hasPersonas, startedAt: workTally.startedAt,
            isReady: isProcessWell && holdings?.troubled == 0, isStarting: isStarting,
            isStoreHealthy: isStoreHealthy, doubts: doubts, isClockAhead: isClockAhead,
            journalHead: headWatch.store.head?.sequence ?? 0,
            isSocketThere: isSocketThere,
            unusableKeys: keyWatch.health.failing.count, descriptors: descriptors,
            freeDisk: ports.inspector.freeDisk, holdings: holdings,
            work: workTally.counts,
            pushed: facts.reduce(0) { $0 + $1.firstByPush }, polled: facts.reduce(0) { $0 + $1.firstByPoll },
            repeated: facts.reduce(0) { $0 + $1.duplicates }, refusedPushes: facts.reduce(0) { $0 + $1.refused },
            drops: drops.all, pauses: health.pauses(now: ports.clock.now),
            hosts: ports.shares?.figures, pushConnections: pushReception?.connections.figures ?? PortFigures())
    }

    private func holdings() async throws -> AgentFigures.Holdings {
        let (tally, troubled, pending, oldest, queued, decided, bytes) = try await ports.store.read { store in
            (
                try EnrollmentHealth(store).tally(), try self.troubleCauses(in: store),
                try store.pendingCount(enrollment: nil),
                try store.oldestPending(enrollment: nil), try store.outboxCount(enrollment: nil),
                try store.oldestQueuedDecision(), try store.databaseBytes()
            )
        }
        var holdings = AgentFigures.Holdings(pending: pending, queued: queued)
        holdings.databaseBytes = bytes
        holdings.oldestPending = oldest.map { max(ports.clock.now.seconds(since: $0.receivedAt), 0) } ?? 0
        holdings.oldestQueued = decided.map { max(ports.clock.now.seconds(since: $0), 0) } ?? 0
        (holdings.enrolling, holdings.active, holdings.suspended) = (tally.enrolling, tally.active, tally.suspended)
        holdings.signedElsewhere = tally.signedElsewhere
        (holdings.troubled, holdings.troubles) = troubled
        return holdings
    }
}
