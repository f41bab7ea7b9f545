import TextAndTime

/// The names of many enrollments that are made in one run: `PREFIX-00001` and so on.
///
/// A run that goes on after an interruption knows by them what was made before, and keeps no file of its own.
package struct FleetNames: Sendable, Equatable {
    /// As many as an agent holds.
    package static let counts = 1...100_000
    /// A number has five digits at least, the last one six.
    package static let prefixBytes = 1...(EnrollCommand.nameBytes.upperBound - 7)

    package let prefix: String
    package let count: Int

    package init(prefix: String, count: Int) {
        // As the agent keeps a name that begins so; otherwise a run that goes on would not know its names again.
        self.prefix = String(TypedText.name(prefix + "-").unicodeScalars.dropLast())
        self.count = count
    }

    package func name(of number: Int) -> String {
        let digits = String(number)
        return prefix + "-" + String(repeating: "0", count: max(0, 5 - digits.utf8.count)) + digits
    }

    /// The number that a name stands for; nil if it is none of these.
    package func number(of name: String) -> Int? {
        let bytes = Array(name.utf8)
        let beginning = Array((prefix + "-").utf8)
        guard bytes.starts(with: beginning),
            let number = Int(name.utf8.dropFirst(beginning.count).map(Self.digit).joined()),
            (1...count).contains(number), Array(self.name(of: number).utf8) == bytes
        else { return nil }
        return number
    }

    private static func digit(_ byte: UInt8) -> String { String(UnicodeScalar(byte)) }
}
