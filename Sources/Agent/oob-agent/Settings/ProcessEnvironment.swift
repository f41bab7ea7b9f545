import AgentHost
import FoundationEssentials

/// The environment as it was at start.
enum ProcessEnvironment {
    /// The service manager that started the agent, if there is one; read before ``variables``, as it removes its own.
    static let serviceManager = ServiceManager.takeFromEnvironment()

    static let variables = ProcessInfo.processInfo.environment
}
