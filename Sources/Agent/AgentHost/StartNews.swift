package import LinuxProcess
import Synchronization

/// Tells a service manager how far a long start has come, so that it goes on waiting for one that works.
///
/// To be told where something was done, and never by a timer: a start that hangs is to be ended.
package final class StartNews: Sendable {
    /// The end of the manager's patience is not moved by less.
    static let grain: Duration = .seconds(10)

    private let tell: @Sendable ([ServiceManager.News]) throws(SystemError) -> Void
    private let now: @Sendable () -> ContinuousClock.Instant
    private let end: Mutex<ContinuousClock.Instant>

    /// - Parameter patience: the usual one, with which nothing is told before the start is as old as ``grain``.
    package init(
        patience: Duration, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        tell: @escaping @Sendable ([ServiceManager.News]) throws(SystemError) -> Void
    ) {
        self.tell = tell
        self.now = now
        end = Mutex(now() + patience)
    }

    /// - Parameters:
    ///   - status: how far it has come, for people.
    ///   - patience: how long what is done next may take.
    package func tell(_ status: String, patience: Duration) throws(SystemError) {
        let end = now() + patience
        let isNews = self.end.withLock { told in
            guard max(told.duration(to: end), end.duration(to: told)) >= Self.grain else { return false }
            told = end
            return true
        }
        if isNews { try tell([.working(patience), .status(status)]) }
    }
}
