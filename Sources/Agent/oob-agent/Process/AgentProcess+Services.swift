import AgentHost
import Authenticator
import Journal
import LinuxProcess
import PushReceiver
import Records
import ServiceLifecycle

extension AgentProcess {
    func pushServer(_ agent: Agent) -> PushServer? {
        guard let network = settings.push, let reception = agent.pushReception else { return nil }
        return PushServer(
            reception: reception, address: network.address, identity: network.identity,
            isBehindProxy: network.isBehindProxy, log: log)
    }

    func pushServices(_ server: PushServer?, _ readiness: Readiness) -> [any Service] {
        guard let server else { return [] }
        return [Loop({ try await server.serve { _ in readiness.has(.push) } }, stopsItself: true)]
    }
}

extension AgentProcess {
    /// Supervision, if a service manager started the agent.
    func supervision(_ agent: Agent, readiness: Readiness, last: LastReload) -> [any Service] {
        guard let manager = ProcessEnvironment.serviceManager else { return [] }
        let supervision = Supervision(
            manager: manager, agent: agent, socket: settings.socketPath, readiness: readiness, lastReload: last,
            log: log)
        return [Loop(supervision.keepInformed)]
    }
}

extension AgentProcess {
    /// Seconds without work after which the memory of a busy time is returned to the kernel.
    private static let memoryPause: Double = 10
    /// The most pauses with work in each of them; after them, the memory is returned all the same.
    private static let mostPauses = 6
    /// Seconds in which the store has released its memory.
    private static let releasePause: Double = 1

    /// Returns unused memory to the kernel after a busy time or the start.
    ///
    /// No timer wakes it while the agent is idle.
    func memoryService(_ agent: Agent, _ opened: OpenedStore) -> Loop {
        Loop {
            let clock = SystemClock()
            let work = agent.hub.pendingKeys { event in
                if case .ownKeysSeen = event { [event.kind] } else { event.kind == .answered ? [event.kind] : [] }
            }
            for await _ in work.notifier {
                // A ring during the last pauses. They have covered its work already.
                if work.takeAll().isEmpty { continue }
                for _ in 0..<Self.mostPauses {
                    try await clock.sleep(seconds: Self.memoryPause)
                    // Work that goes on would soon need the returned memory.
                    if work.takeAll().isEmpty { break }
                }
                opened.releaseMemory()
                try await clock.sleep(seconds: Self.releasePause)
                AllocatedMemory.giveBack()
            }
        }
    }
}

/// A service that runs until a graceful shutdown.
struct Loop: Service {
    private let body: @Sendable () async throws -> Void
    private let stopsItself: Bool

    /// - Parameter stopsItself: whether the body stops by itself at a graceful shutdown. Otherwise it is cancelled.
    init(_ body: @escaping @Sendable () async throws -> Void, stopsItself: Bool = false) {
        self.body = body
        self.stopsItself = stopsItself
    }

    func run() async throws {
        guard !stopsItself else { return try await body() }
        do {
            try await cancelWhenGracefulShutdown(body)
        } catch is CancellationError {
            // Cancellation is the normal way to stop.
        }
    }
}
