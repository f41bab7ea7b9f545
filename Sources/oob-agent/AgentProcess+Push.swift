import Authenticator
import PushReceiver
import ServiceLifecycle

extension AgentProcess {
    func pushServer(_ agent: Agent) -> PushServer? {
        guard let network = settings.push, let reception = agent.pushReception else { return nil }
        return PushServer(
            reception: reception, address: network.address, identity: network.identity,
            isBehindProxy: network.isBehindProxy,
            bounds: settings.bounds.push, log: log)
    }

    func pushServices(_ server: PushServer?, _ readiness: Readiness) -> [any Service] {
        guard let server else { return [] }
        return [Loop({ try await server.run { readiness.has(.push) } }, stopsItself: true)]
    }
}
