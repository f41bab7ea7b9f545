import FoundationEssentials

/// The environment as it was at start.
enum ProcessEnvironment {
    static let variables = ProcessInfo.processInfo.environment
}
