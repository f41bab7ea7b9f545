/// The version of this software.
package enum AgentVersion {
    package static let text = "0.1.0"
}
