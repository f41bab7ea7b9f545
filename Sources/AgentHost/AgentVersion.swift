enum AgentVersion {
    static let text = "0.1.0"
}
