/// Why the agent's secret cannot be changed; nothing was.
package struct RotationError: Error, Sendable, CustomStringConvertible {
    package let description: String
}
