import Authenticator
import ServiceLifecycle

extension AgentProcess {
    /// Nothing where nobody wants to know how the agent is.
    func supervision(_ agent: Agent, _ readiness: Readiness, _ last: LastReload) -> [any Service] {
        guard let manager = ProcessEnvironment.serviceManager else { return [] }
        let supervision = Supervision(
            manager: manager, agent: agent, socket: settings.socketPath, readiness: readiness, lastReload: last,
            log: log)
        return [Loop(supervision.run)]
    }
}
