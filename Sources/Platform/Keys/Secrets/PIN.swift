/// A payer's PIN: 4 to 64 characters of text, byte for byte as they were entered.
///
/// It must not appear in any text (see `Secret`), and its bytes are wiped with the last copy. It is an element of
/// knowledge, which must not be uncovered by or disclosed to others (PSD2 RTS Article 6).
package struct PIN: Sendable, Equatable {
    /// The number of characters that a PIN may have.
    package static let characters = 4...64
    /// The most bytes of UTF-8 that a PIN may have.
    package static let maxBytes = 4 * characters.upperBound

    /// The bytes of the PIN.
    package let secret: Secret
    /// Whether it is among the first that anyone would try.
    package let isGuessable: Bool

    /// Throws unless the bytes are UTF-8 of 4 to 64 characters, none of them a control character.
    ///
    /// A line break is a control character. A byte order mark counts as one.
    package init(_ secret: Secret) throws(PINError) {
        guard secret.count > 0 else { throw .empty }
        guard secret.count <= Self.maxBytes else { throw .tooLong }
        var characters = try unsafe secret.withBytes { bytes throws(PINError) in
            try unsafe Self.characters(of: bytes)
        }
        // The array belongs to this function, and a PIN must not stay in freed memory.
        defer { for index in characters.indices { characters[index] = 0 } }
        guard characters.count >= Self.characters.lowerBound else { throw .tooShort }
        guard characters.count <= Self.characters.upperBound else { throw .tooLong }
        self.secret = secret
        isGuessable = Self.isGuessable(characters)
    }

    /// Returns the Unicode scalar values of the characters.
    private static func characters(of bytes: UnsafeRawBufferPointer) throws(PINError) -> [UInt32] {
        var (decoder, rest) = unsafe (UTF8(), bytes.makeIterator())
        var characters: [UInt32] = []
        // There are never more characters than bytes, so the array does not grow and leaves no copy behind.
        characters.reserveCapacity(bytes.count)
        while true {
            switch unsafe decoder.decode(&rest) {
            case .emptyInput: return characters
            case .error: throw .notText
            case .scalarValue(let scalar):
                // A file may have a byte order mark, but nobody can type one.
                guard scalar.properties.generalCategory != .control, scalar != "\u{FEFF}" else {
                    throw .controlCharacter
                }
                characters.append(scalar.value)
            }
        }
    }
}

extension PIN: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { secret.description }
    package var debugDescription: String { secret.debugDescription }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// The reason why text is not a PIN.
///
/// It never contains any of the text.
package enum PINError: Error, Equatable, Sendable, CustomStringConvertible, CaseIterable {
    case empty, tooShort, tooLong, controlCharacter, notText

    package var description: String {
        let allowed = "a PIN has \(PIN.characters.lowerBound) to \(PIN.characters.upperBound) characters"
        return switch self {
        case .empty: "it is empty; \(allowed)"
        case .tooShort: "it is too short; \(allowed)"
        case .tooLong: "it is too long; \(allowed)"
        case .controlCharacter:
            "it holds a line break, a byte order mark or another control character; \(allowed) on one line"
        case .notText: "it is not UTF-8; \(allowed)"
        }
    }
}
