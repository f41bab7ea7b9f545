package import Records

extension JournalReader {
    /// A notifier that rings after events that readers are told of, from this call on.
    ///
    /// Once for what a commit has journaled.
    ///
    /// - Parameter isHeard: whether anybody wants to hear of them now. It is called for each event and must be short; who
    ///   changes its mind looks at the journal after that.
    package func notifier(while isHeard: @escaping @Sendable () -> Bool) -> EventNotifier {
        hub.notifier { event in (event.isGap || event.kindForReaders?.event != nil) && isHeard() }
    }

    /// Does something once so much time has passed, by the agent's clock, unless it is called off.
    package func alarm(after seconds: Double, _ action: @escaping @Sendable () -> Void) -> Alarm {
        clock.alarm(after: seconds, action)
    }
}
