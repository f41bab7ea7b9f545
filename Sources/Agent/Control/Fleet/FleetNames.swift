import TextAndTime

/// The names of the enrollments that one run makes: `PREFIX-00001` and so on.
///
/// A run that continues after an interruption recognizes the enrollments by their names, and keeps no file of its own.
package struct FleetNames: Sendable, Equatable {
    /// The allowed numbers of enrollments, up to the number that an agent supports.
    package static let counts = 1...100_000
    /// The allowed length of a prefix, in bytes.
    ///
    /// A number has at least five digits, the last number has six, and `-` stands before it.
    package static let prefixBytes = 1...(EnrollCommand.nameBytes.upperBound - 7)

    package let prefix: String
    package let count: Int

    package init(prefix: String, count: Int) {
        // Normalize the prefix as the agent normalizes a name. Otherwise a run that continues would not recognize its
        // names.
        self.prefix = String(TypedText.name(prefix + "-").unicodeScalars.dropLast())
        self.count = count
    }

    package func name(of number: Int) -> String {
        let digits = String(number)
        return prefix + "-" + String(repeating: "0", count: max(0, 5 - digits.utf8.count)) + digits
    }

    /// Returns the number in a name.
    ///
    /// `nil` if the name is not one of these.
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
