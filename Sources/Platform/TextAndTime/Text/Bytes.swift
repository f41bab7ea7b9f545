// Inlinable, because the JSON reader and the 3DS rules call these often.

extension String {
    /// Returns whether both strings have the same UTF-8 bytes.
    ///
    /// Swift's `==` treats canonically equivalent strings as equal; a commitment does not.
    @inlinable
    package func hasBytes(of other: String) -> Bool {
        // Most strings differ in length, which is known without reading them.
        guard utf8.count == other.utf8.count else { return false }
        let (own, others) = (utf8.span, other.utf8.span)
        for index in own.indices where own[index] != others[index] { return false }
        return true
    }

    /// Copies the bytes, or returns `nil` unless all of them are UTF-8.
    @inlinable
    package init?(strictUTF8 bytes: Span<UInt8>) {
        guard let text = try? UTF8Span(validating: bytes) else { return nil }
        self.init(copying: text)
    }

    /// Whether all characters are ASCII digits, which is also true for the empty string.
    package var isASCIIDigits: Bool {
        utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}

extension UInt8 {
    /// Whether it is one of `A-Z a-z`.
    @inlinable
    package var isASCIILetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }

    /// Whether it is one of `0-9`.
    @inlinable
    package var isASCIIDigit: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
    }

    /// Whether it is one of `0-9 A-F a-f`.
    @inlinable
    package var isASCIIHexDigit: Bool {
        isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20)
    }
}

/// Bytes as a hash key, hashed in one call.
///
/// `[UInt8]` would hash each byte by itself.
package struct HashedBytes: Hashable, Sendable {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package func hash(into hasher: inout Hasher) { unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) } }
}
