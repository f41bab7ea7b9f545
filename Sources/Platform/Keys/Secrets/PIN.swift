/// What a payer knows: 4 to 64 characters of text, byte for byte as they were entered.
///
/// No text may show it (see `Secret`), and its bytes are wiped with the last copy: it is an element of knowledge, which
/// is not to be uncovered by or disclosed to others (PSD2 RTS Article 6).
package struct PIN: Sendable, Equatable {
    /// The characters that a PIN may have.
    package static let characters = 4...64
    /// The most bytes of UTF-8 that so many characters have.
    package static let maxBytes = 4 * characters.upperBound

    /// Its bytes.
    package let secret: Secret
    /// Whether it is among the first that anyone would try.
    package let isGuessable: Bool

    /// Throws unless it is UTF-8 of 4 to 64 characters and none of them is a control character, such as a line
    /// break, or a byte order mark.
    package init(_ secret: Secret) throws(PINError) {
        guard secret.count > 0 else { throw .empty }
        guard secret.count <= Self.maxBytes else { throw .tooLong }
        var characters = try unsafe secret.withBytes { bytes throws(PINError) in
            try unsafe Self.characters(of: bytes)
        }
        // The array is this function's own, and a PIN is not to stay in freed memory.
        defer { for index in characters.indices { characters[index] = 0 } }
        guard characters.count >= Self.characters.lowerBound else { throw .tooShort }
        guard characters.count <= Self.characters.upperBound else { throw .tooLong }
        self.secret = secret
        isGuessable = Self.isGuessable(characters)
    }

    /// The numbers of its Unicode scalars.
    private static func characters(of bytes: UnsafeRawBufferPointer) throws(PINError) -> [UInt32] {
        var (decoder, rest) = unsafe (UTF8(), bytes.makeIterator())
        var characters: [UInt32] = []
        // Never more than bytes, so that no copy is left behind by growing.
        characters.reserveCapacity(bytes.count)
        while true {
            switch unsafe decoder.decode(&rest) {
            case .emptyInput: return characters
            case .error: throw .notText
            case .scalarValue(let scalar):
                // A byte order mark is what a file has, and nobody can type one.
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

/// Why text is no PIN.
///
/// Never carries any of it.
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
