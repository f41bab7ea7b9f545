import Journal
import Logging
import Records
import StoreTables

/// Background task that searches the store for waiting work every few seconds, with or without events.
///
/// Work comes from the store, and an event only makes it known earlier. An event can be lost between hosts: a paused or
/// slow host does not learn of all entries that others have written. Each service handles found work as it handles the
/// event. The table "Work and its look" of the architecture page has a row for each.
///
/// A look reads by indexes, and does not write. It wakes one thread, even in an idle agent. It reads at most the sum of
/// ``newest`` and ``page`` enrollments, 30 bytes of each, and at most ``outboxPage`` enrollments of each queue of the
/// outbox, however much work waits.
struct PeriodicLook: Sendable {
    let ports: Ports
    let hub: EventHub
    let log: Logger
    let deferred: DeferredMessages
    let keyHealth: KeyHealth
    /// The newest entry of this host's chain.
    ///
    /// `nil` before the first commit.
    let head: @Sendable () -> JournalPoint?

    /// The number of the newest enrollments that each look reads.
    ///
    /// So a new enrollment is found at once, however many there are.
    var newest = 1_000
    /// The number of other enrollments that each look reads.
    ///
    /// Each of 100,000 is read within two minutes.
    var page = 5_000
    /// The most enrollments with waiting work that a look reads from each queue of the outbox.
    var outboxPage = 10_000
    /// The number of the newest push subscriptions that are checked for their registration with the issuer.
    private static let newestSubscriptions = 1_000

    /// The positions at which the next look continues, in tables that one look does not read in full.
    private struct Place {
        /// The place of the last read standing.
        ///
        /// `nil` starts after the newest ones.
        var standing: Int64?
        /// The last read enrollment by queue.
        ///
        /// A queue without an entry starts at its first enrollment.
        var outbox: [OutboxQueue: EnrollmentID] = [:]
        var journal: Int64 = 0
    }

    /// Looks for work until the task is cancelled.
    ///
    /// The first look comes after a pause, because each service has made its own at its start. After a gap, the next
    /// look reads everything. After a change of this host's share, a look is made at once, and reads all outboxes and
    /// registrations. The ``Fetcher`` makes its own look then.
    func run() async throws {
        var shares = hub.sharesNotifier()
        let gaps = hub.pendingKeys { $0.isGap ? [true] : [] }
        var (place, isAfterGap) = (Place(), false)
        while !Task.isCancelled {
            let begun = ports.clock.steady
            try await ports.clock.sleep(seconds: AgentSettings.lookPause, orUntil: shares)
            // Before the look, so that a change during it is not missed.
            shares = hub.sharesNotifier()
            let isEarly = ports.clock.steady < begun + AgentSettings.lookPause
            if !isEarly, !gaps.takeAll().isEmpty { isAfterGap = true }
            do {
                try await lookAtOutbox(&place, atAll: isEarly || isAfterGap)
                try await lookAtRegistrations()
                if !isEarly {
                    try await lookAtStandings(&place, atAll: isAfterGap)
                    isAfterGap = false
                }
                try await lookAtTheRest(&place)
            } catch {
                try Task.checkCancellation()
                log.error("the store could not be looked through for work", metadata: ["reason": "\(error)"])
            }
        }
    }

    private func read<T: Sendable>(_ body: @escaping @Sendable (StoreReading) throws -> T) async throws -> T {
        try await ports.patiently { try await ports.store.read(body) }
    }

    private func publish(_ work: WaitingWork) { hub.publish(.found(work)) }

    private func publish(_ ids: [EnrollmentID], _ work: ([EnrollmentID]) -> WaitingWork) {
        let ours = ids.filter(ports.isOurs)
        if !ours.isEmpty { publish(work(ours)) }
    }

    private func lookAtOutbox(_ place: inout Place, atAll isAll: Bool) async throws {
        if isAll { place.outbox = [:] }
        for queue in OutboxQueue.allCases {
            repeat {
                let (start, limit) = (place.outbox[queue], outboxPage)
                let ids = try await read { try $0.outboxEnrollments(in: queue, after: start, limit: limit) }
                place.outbox[queue] = ids.count == limit ? ids.last : nil
                publish(ids) { .outbox($0, queue) }
            } while isAll && place.outbox[queue] != nil && !Task.isCancelled
        }
    }

    private func lookAtRegistrations() async throws {
        // A registration that another host may still be sending is left to it.
        let sent = ports.clock.now - (ports.shares == nil ? 0 : RegistrationDelivery.alone)
        let ids = try await read { try $0.enrollmentIDs(enrollingStartedBy: sent) }
        publish(ids, WaitingWork.registrations)
    }

    private func lookAtStandings(_ place: inout Place, atAll isAll: Bool) async throws {
        let (first, limit) = (newest, page)
        let newest = try await read { try $0.standings(before: nil, limit: first) }
        if !newest.isEmpty { publish(.standings(newest)) }
        guard newest.count == first else { return place.standing = nil }
        if isAll { place.standing = nil }
        repeat {
            let start = place.standing ?? newest.last?.place
            let page = try await read { try $0.standings(before: start, limit: limit) }
            place.standing = page.count == limit ? page.last?.place : nil
            if !page.isEmpty { publish(.standings(page)) }
            // Other tasks use the store and the processor between two pages.
            await Task.yield()
        } while isAll && place.standing != nil && !Task.isCancelled
    }

    private func lookAtTheRest(_ place: inout Place) async throws {
        let (deadline, erasures, subscriptions) = try await read { store in
            (
                try store.nextDeadline(), try store.enrollmentsToErase(),
                try store.unregisteredSubscriptions(amongNewest: Self.newestSubscriptions)
            )
        }
        if let deadline, deadline <= ports.clock.now { publish(.expiredRequests) }
        publish(erasures, WaitingWork.erasures)
        publish(subscriptions, WaitingWork.subscriptions)
        let issuers = deferred.issuers
        if !issuers.isEmpty { publish(.heldMessages(issuers)) }
        if !keyHealth.failing.isEmpty { publish(.failingKeys) }
        if let head = head()?.sequence, head != place.journal {
            place.journal = head
            publish(.journal(through: head))
        }
    }
}
