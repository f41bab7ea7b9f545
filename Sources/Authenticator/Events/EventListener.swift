/// Rings when something has happened that readers of events are told.
package struct EventListener: Sendable {
    /// Rings once for what a commit has journaled; a ring that nobody has taken yet is not repeated.
    package let notifier: AsyncStream<Void>
    private let ringing: AsyncStream<Void>.Continuation

    fileprivate init(_ hub: EventHub, for isTold: @escaping @Sendable (AgentEvent) -> Bool) {
        (notifier, ringing) = hub.attach(isTold)
    }

    /// Rings though nothing has happened.
    package func ring() { ringing.yield() }
}

extension Journal {
    /// Hears of events from this call on.
    ///
    /// - Parameter isHeard: whether anybody wants to hear of them now. It is called for each event and must be short; who
    ///   changes its mind looks at the journal after that.
    package func listener(while isHeard: @escaping @Sendable () -> Bool) -> EventListener {
        EventListener(hub) { event in (event.isGap || event.kindForReaders?.event != nil) && isHeard() }
    }

    /// Does something once so much time has passed, by the agent's clock, unless it is called off.
    package func alarm(after seconds: Double, _ action: @escaping @Sendable () -> Void) -> Alarm {
        clock.alarm(after: seconds, action)
    }
}
