/// A PIN on its way to the agent, which alone knows what a PIN may be.
///
/// No text may show it: interpolating, describing, reflecting and dumping give "<redacted>". Only a request body holds
/// it, as a JSON string.
package struct PINText: Encodable, Sendable, Equatable {
    /// The bytes of UTF-8 that are carried: more than any PIN has.
    package static let bytes = 0...512

    /// The characters that a PIN has, for who chooses one; the agent has the last word.
    package static let characters = 4...64

    /// Why it cannot be chosen as a PIN; nil if only the agent can say.
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
    /// Without children: `dump` walks the mirror, whatever the description says.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
