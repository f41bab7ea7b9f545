import Synchronization

/// Hears of the events that one reader is told of, from the time that it was made on.
///
/// It is there for as long as the reader is, so that to wait for an event takes no task.
package struct EventListener {
    private final class Flag: Sendable {
        let isSet = Mutex(false)
    }

    private let clock: any AgentClock
    private let newest: @Sendable () -> EventCursor?
    private let ringing: AsyncStream<Void>.Continuation
    private var notifier: AsyncStream<Void>.Iterator
    /// Whether the reader is at a place that the journal has given.
    private var hasLooked = false

    fileprivate init(
        _ hub: EventHub, _ clock: any AgentClock, newest: @escaping @Sendable () -> EventCursor?,
        for isTold: @escaping @Sendable (AgentEvent) -> Bool
    ) {
        self.clock = clock
        self.newest = newest
        let (notifier, ringing) = hub.attach(isTold)
        self.notifier = notifier.makeAsyncIterator()
        self.ringing = ringing
    }

    /// Ends the wait that is under way, and all that come; it may be called from anywhere.
    package var end: @Sendable () -> Void { { [ringing] in ringing.finish() } }

    /// The page of what comes after a place, waiting for an event that has not happened yet; nil if none happens in
    /// `seconds`.
    ///
    /// - Parameters:
    ///   - look: gives that page, and may give one that ends at the same place.
    ///   - position: how far a page reaches.
    /// - Throws: `CancellationError` once it was ended, and what `look` throws.
    package mutating func page<Page>(
        after cursor: EventCursor, waiting seconds: Double, looking look: () async throws -> Page,
        reaching position: (Page) -> EventCursor
    ) async throws -> Page? {
        // Whoever has read all that was told need not look: what comes meanwhile rings. A place that the reader itself has
        // named may be one that the journal does not have.
        if !hasLooked || newest().map(cursor.reaches) != true {
            let page = try await look()
            hasLooked = true
            if position(page) != cursor { return page }
        }
        let isLate = Flag()
        let deadline = clock.alarm(after: seconds) { [ringing] in
            isLate.isSet.withLock { $0 = true }
            ringing.yield()
        }
        defer { deadline.cancel() }
        while true {
            guard await notifier.next() != nil else { throw CancellationError() }
            let page = try await look()
            if position(page) != cursor { return page }
            if isLate.isSet.withLock(\.self) { return nil }
        }
    }
}

extension Journal {
    /// Hears of events from this call on.
    ///
    /// - Parameter enrollment: whose; nil for all.
    package func listener(of enrollment: EnrollmentID?) -> EventListener {
        EventListener(hub, clock, newest: { newestTold }) { event in
            guard event.kindForReaders?.event != nil else { return false }
            return enrollment == nil || event.enrollment == nil || event.enrollment == enrollment
        }
    }
}
