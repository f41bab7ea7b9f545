import AgentHost
import FoundationEssentials

/// The environment as it was at start.
enum ProcessEnvironment {
    /// What started the agent, and wants to know how it is; to be asked for before the variables.
    static let serviceManager = ServiceManager.takeFromEnvironment()

    static let variables = ProcessInfo.processInfo.environment
}
