package import Authenticator
import Control
import Journal
import LinuxProcess
package import Logging
import Synchronization
import TextAndTime

/// Sends the agent's state to the service manager: readiness, status, keep-alive pings and the stop.
///
/// It sends a keep-alive ping only after the agent has answered a call on its own control socket. So a ping says
/// that the process accepts calls. It does not say that the store, the fetcher, the outbox delivery and the expiry
/// service work: a restart would not fix those. Their state is in the status line and in the metrics.
package struct Supervision: Sendable {
    /// The least seconds between two calls.
    private static let pause: Double = 5
    /// The seconds between two calls without an event, if the manager has no watchdog.
    private static let longPause: Double = 60

    private let manager: ServiceManager
    private let agent: Agent
    private let socket: String
    private let readiness: Readiness
    private let lastReload: LastReload
    private let log: Logger

    /// - Parameter socket: the path of the agent's control socket.
    package init(
        manager: ServiceManager, agent: Agent, socket: String, readiness: Readiness, lastReload: LastReload, log: Logger
    ) {
        self.manager = manager
        self.agent = agent
        self.socket = socket
        self.readiness = readiness
        self.lastReload = lastReload
        self.log = log
    }

    /// Runs until the task is cancelled.
    package func keepInformed() async throws {
        do {
            await readiness.untilWhole()
            try await watch()
        } catch is CancellationError {
            notify([.stopping, .status("Stopping")])
        }
    }

    private func watch() async throws {
        let longPause = manager.patience.map { $0 / .seconds(2) } ?? Self.longPause
        // A failed call and the next call still fit into the watchdog timeout: 6 + 2 + 1 + 2 of 12 parts.
        let pause = min(Self.pause, longPause / 6)
        var isReadySaid = false
        while true {
            try Task.checkCancellation()
            // Subscribe before the call, so that no change is missed. The findings of a periodic look are ignored:
            // they would else cause a new status at each look.
            let notifier = agent.hub.notifier { event in
                if case .found = event { false } else { true }
            }
            let line = await status(within: pause * 2)
            if let line {
                readiness.willBeTold()
                let signs: [ServiceManager.News] = manager.patience == nil ? [] : [.alive]
                // If the message was not sent, the next round sends it.
                if notify((isReadySaid ? [] : [.ready]) + signs + [.status(line)]) { isReadySaid = true }
            }
            try await SystemClock().sleep(seconds: pause)
            guard line != nil else { continue }
            try await SystemClock().sleep(seconds: longPause - pause, orUntil: notifier)
        }
    }

    /// The status line if the agent answers itself, or else `nil`.
    ///
    /// Sends the reason for `nil` if it is known.
    ///
    /// If the agent's socket is gone, an answer at its path comes from another process.
    private func status(within seconds: Double) async -> String? {
        guard let trouble = agent.processTroubles.all.first else { return await ownAnswer(within: seconds) }
        notify([.status("Degraded: \(trouble)")])
        return nil
    }

    /// Asks the agent for its health, as any client does, and returns `nil` if no answer comes in that time.
    private func ownAnswer(within seconds: Double) async -> String? {
        do {
            let client = try ControlClient(socketFlag: socket, environment: [:])
            let health = try await client.health(seconds: max(Int(seconds), 1))
            return StatusLine(health, try? await Tally(agent), refusal: lastReload.refusal).text
        } catch {
            log.warning("the agent does not answer itself", metadata: ["reason": "\(error)"])
            return nil
        }
    }

    /// Returns whether the message was sent.
    @discardableResult
    private func notify(_ news: [ServiceManager.News]) -> Bool {
        do throws(SystemError) {
            try manager.send(news)
            return true
        } catch {
            log.warning("the service manager could not be notified", metadata: ["reason": "\(error)"])
            return false
        }
    }
}

/// Numbers of enrollments, pending requests and queued decisions in the store.
private struct Tally {
    let enrollments: Int
    let pending: Int
    let queued: Int

    init(_ agent: Agent) async throws {
        (enrollments, pending, queued) = try await agent.counts()
    }
}

/// The agent's health in one line.
private struct StatusLine {
    /// The most bytes of a reason.
    private static let maxOfReason = 300

    let text: String

    /// - Parameters:
    ///   - tally: `nil` if the store cannot be read. The reasons then say so.
    ///   - refusal: the reason why the last reload was refused. `nil` if it was not.
    init(_ health: HealthView, _ tally: Tally?, refusal: String?) {
        let reason = health.reasons.first.map { first in
            let others = health.reasons.count - 1
            // The last reason of very many only says how many more there are.
            let rest = others < Agent.maxTroubles ? "\(others) more" : "many more"
            return first.beginning(bytes: Self.maxOfReason) + (others > 0 ? " (and \(rest))" : "")
        }
        let counts = tally.map { tally in
            let enrollments = "\(tally.enrollments) enrollment\(tally.enrollments == 1 ? "" : "s")"
            return "\(enrollments), \(tally.pending) pending"
                + (tally.queued > 0 ? ", \(tally.queued) undelivered" : "")
        }
        let reload = refusal.map { "reload refused: \($0)" }
        text =
            (health.ready ? "Ready: " : "Degraded: ")
            + [counts, reason, reload].compactMap(\.self).joined(separator: "; ")
    }
}

/// The result of the last reload, for the service manager's status.
package final class LastReload: Sendable {
    private let state = Mutex<String?>(nil)

    package init() {}

    /// The reason why the last reload was refused, or `nil` if it was not.
    package var refusal: String? { state.withLock(\.self) }

    package func set(_ refusal: String?) { state.withLock { $0 = refusal } }

    /// A line for the status, or `nil` if this reload and the one before succeeded.
    package func news(after before: String?) -> String? {
        refusal.map { "Reload refused: \($0)" } ?? before.map { _ in "Reloaded" }
    }
}
