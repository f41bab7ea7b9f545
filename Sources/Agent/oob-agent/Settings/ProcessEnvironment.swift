import AgentHost
import FoundationEssentials

/// The environment at the start of the process.
enum ProcessEnvironment {
    /// The service manager, if one started the agent.
    ///
    /// Read before ``variables``, because it unsets its own variables.
    static let serviceManager = ServiceManager.takeFromEnvironment()

    static let variables = ProcessInfo.processInfo.environment
}
