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
        return [Loop({ try await server.run { _ in readiness.has(.push) } }, stopsItself: true)]
    }
}

extension AgentProcess {
    /// Supervision, if a service manager started the agent.
    func supervision(_ agent: Agent, readiness: Readiness, last: LastReload) -> [any Service] {
        guard let manager = ProcessEnvironment.serviceManager else { return [] }
        let supervision = Supervision(
            manager: manager, agent: agent, socket: settings.socketPath, readiness: readiness, lastReload: last,
            log: log)
        return [Loop(supervision.run)]
    }
}

extension AgentProcess {
    /// Seconds without work after which the memory that a busy time took is given back.
    private static let memoryPause: Double = 10
    /// It is given back after so many pauses though there was work in each of them.
    private static let mostPauses = 6
    /// Seconds in which the store has let go of its memory.
    private static let releasePause: Double = 1

    /// Gives back the memory that a busy time or the start has left; nothing wakes it up while nothing happens.
    func memoryService(_ agent: Agent, _ opened: OpenedStore) -> Loop {
        Loop {
            let clock = SystemClock()
            let work = agent.hub.pendingKeys { event in
                if case .ownKeysSeen = event { [event.kind] } else { event.kind == .answered ? [event.kind] : [] }
            }
            for await _ in work.notifier {
                // A ring that came during the last pauses: its work was seen in them.
                if work.takeAll().isEmpty { continue }
                for _ in 0..<Self.mostPauses {
                    try await clock.sleep(seconds: Self.memoryPause)
                    // Work that goes on would need at once the memory that was given back.
                    if work.takeAll().isEmpty { break }
                }
                opened.releaseMemory()
                try await clock.sleep(seconds: Self.releasePause)
                AllocatedMemory.giveBack()
            }
        }
    }
}

/// Something that works until it is told to stop.
struct Loop: Service {
    private let body: @Sendable () async throws -> Void
    private let stopsItself: Bool

    /// - Parameter stopsItself: whether the body stops by itself at a graceful shutdown; else it is cancelled.
    init(_ body: @escaping @Sendable () async throws -> Void, stopsItself: Bool = false) {
        self.body = body
        self.stopsItself = stopsItself
    }

    func run() async throws {
        guard !stopsItself else { return try await body() }
        do {
            try await cancelWhenGracefulShutdown(body)
        } catch is CancellationError {
            // That is how it stops.
        }
    }
}
