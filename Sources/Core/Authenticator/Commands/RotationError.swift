/// The reason why the agent's secret was not changed.
package struct RotationError: Error, Sendable, CustomStringConvertible {
    package let description: String
}
