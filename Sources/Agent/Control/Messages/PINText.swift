/// A PIN on its way to the agent, which alone knows the rules for PINs.
///
/// No text may show it: interpolating, describing, reflecting and dumping give "<redacted>". Only a request body
/// contains it, as a JSON string.
package struct PINText: Encodable, Sendable, Equatable {
    /// The allowed length in bytes of UTF-8, longer than any PIN.
    package static let bytes = 0...512

    /// The length in characters that a new PIN must have.
    ///
    /// The agent makes the final check.
    package static let characters = 4...64

    /// The reason why it cannot be chosen as a PIN.
    ///
    /// `nil` if only the agent can judge it.
    package var problem: String? {
        let range = Self.characters
        guard !range.contains(revealed.unicodeScalars.count) else { return nil }
        let which = revealed.unicodeScalars.count < range.lowerBound ? "short" : "long"
        return "That is too \(which): a PIN has \(range.lowerBound) to \(range.upperBound) characters."
    }

    /// The text itself, for the agent alone.
    package let revealed: String

    package init(_ text: String) { revealed = text }

    package func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(revealed)
    }
}

extension PINText: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }
    /// A mirror without children: `dump` walks the mirror and ignores the description.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
