package import LinuxProcess
import Synchronization

/// Extends the service manager's start timeout while a long start makes progress.
///
/// Send progress where a step is done, never by a timer: a start that hangs must be ended.
package final class StartNews: Sendable {
    /// The smallest change of the start timeout that is sent.
    static let grain: Duration = .seconds(10)

    private let tell: @Sendable ([ServiceManager.News]) throws(SystemError) -> Void
    private let now: @Sendable () -> ContinuousClock.Instant
    private let end: Mutex<ContinuousClock.Instant>

    /// - Parameter patience: the usual start timeout. With it, the first ``grain`` of a start sends no message.
    package init(
        patience: Duration, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        tell: @escaping @Sendable ([ServiceManager.News]) throws(SystemError) -> Void
    ) {
        self.tell = tell
        self.now = now
        end = Mutex(now() + patience)
    }

    /// - Parameters:
    ///   - status: the progress, for people.
    ///   - patience: the limit for the next step.
    package func report(_ status: String, patience: Duration) throws(SystemError) {
        let end = now() + patience
        let isNews = self.end.withLock { told in
            guard max(told.duration(to: end), end.duration(to: told)) >= Self.grain else { return false }
            told = end
            return true
        }
        if isNews { try tell([.working(patience), .status(status)]) }
    }
}
