package import Records

extension JournalReader {
    /// Creates a notifier that rings after events for readers, from this call on.
    ///
    /// It rings once for all entries of a commit.
    ///
    /// - Parameter isHeard: whether a reader wants events now. It is called for each event and must be short. A reader
    ///   that changes its mind reads the journal after that.
    package func notifier(while isHeard: @escaping @Sendable () -> Bool) -> EventNotifier {
        hub.notifier { event in (event.isGap || event.kindForReaders?.event != nil) && isHeard() }
    }

    /// Runs an action after so many seconds of the agent's clock, unless the alarm is cancelled.
    package func alarm(after seconds: Double, _ action: @escaping @Sendable () -> Void) -> Alarm {
        clock.alarm(after: seconds, action)
    }
}
