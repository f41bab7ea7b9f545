import Journal
import Logging
import Records
import StoreTables

/// Looks every few seconds for work that waits, whatever anybody was told: work comes from the store, and an event only
/// brings it earlier.
///
/// An event can be lost between hosts: a host that is paused, or is slow, does not hear of all that others have written.
/// Each service treats what is found as it treats the event. The table "Work and its look" of the architecture page has a
/// row for each.
///
/// A look reads by indexes, and writes nothing. It wakes up one thread, also of an agent that has nothing to do. It reads at
/// most ``newest`` + ``page`` enrollments, 30 bytes of each, and at most ``outboxPage`` enrollments of each queue of the
/// outbox, whatever waits.
struct PeriodicLook: Sendable {
    let ports: Ports
    let hub: EventHub
    let log: Logger
    let deferred: DeferredMessages
    let keyHealth: KeyHealth
    /// The newest entry of this host's chain; nil before the first commit.
    let head: @Sendable () -> JournalPoint?

    /// The number of the newest enrollments that each look sees: a new one is found at once, however many there are.
    var newest = 1_000
    /// The number of the others that each look sees: of 100,000 each is seen within two minutes.
    var page = 5_000
    /// The number of outboxes in which a look sees that something waits.
    var outboxPage = 10_000
    /// Of how many of the newest push subscriptions it is seen whether the issuer has them.
    private static let newestSubscriptions = 1_000

    /// Where the next look goes on with what it does not read all of.
    private struct Place {
        /// Nil: with the newest ones.
        var standing: Int64?
        /// By queue; with the first one if it is not there.
        var outbox: [OutboxQueue: EnrollmentID] = [:]
        var journal: Int64 = 0
    }

    /// Works until the task is cancelled: each service has looked itself when it began.
    ///
    /// After a gap the next look sees everything. After a change of this host's share it is made at once, and sees
    /// all outboxes and registrations; the ``Fetcher`` looks itself then.
    func run() async throws {
        var shares = hub.sharesNotifier()
        let gaps = hub.pendingKeys { $0.isGap ? [true] : [] }
        var (place, isAfterGap) = (Place(), false)
        while !Task.isCancelled {
            let begun = ports.clock.steady
            try await ports.clock.sleep(seconds: AgentSettings.lookPause, orUntil: shares)
            // Before the look, so that a change meanwhile is not missed.
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
        // A registration that another host may be sending is left alone.
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
            // Others have the store and the processor between two pages.
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
