import PageServing
import ServiceLifecycle
import Synchronization
import UnixSignals

/// The links that open the page: one at the start, and another at each request from the program's user.
final class Links: Service {
    private let sessions: Sessions
    private let signals: UnixSignalsSequence
    private let asked: AsyncStream<Void>
    private let show: @Sendable (String) -> Void
    /// The origin of the page, or `nil` before the server listens.
    private let origin = Mutex<PageOrigin?>(nil)

    /// - Parameters:
    ///   - signals: each SIGUSR1 requests a link.
    ///   - asked: each element requests a link too.
    init(
        sessions: Sessions, signals: UnixSignalsSequence, asked: AsyncStream<Void>,
        show: @escaping @Sendable (String) -> Void
    ) {
        self.sessions = sessions
        self.signals = signals
        self.asked = asked
        self.show = show
    }

    /// Shows the first link.
    func begin(at origin: PageOrigin) {
        self.origin.withLock { $0 = origin }
        showNext()
    }

    /// Shows a link at each request.
    func run() async throws {
        await withDiscardingTaskGroup { group in
            group.addTask { [self] in
                for await _ in signals.cancelOnGracefulShutdown() { showNext() }
            }
            group.addTask { [self] in
                for await _ in asked.cancelOnGracefulShutdown() { showNext() }
            }
        }
    }

    private func showNext() {
        guard let origin = origin.withLock({ $0 }) else { return }
        show("\(origin.text)/enter?token=\(sessions.makeLink())")
    }
}
