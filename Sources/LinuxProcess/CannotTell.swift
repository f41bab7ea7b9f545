/// Why something about this host or process cannot be told.
package struct CannotTell: Error, Equatable, Sendable, CustomStringConvertible {
    /// A part of a sentence: "open /proc/swaps: Permission denied".
    package let description: String

    package init(_ description: String) { self.description = description }

    /// From errno as the call just before left it.
    static func afterCall(_ operation: String) -> CannotTell {
        CannotTell(SystemError.afterCall(operation).description)
    }
}
