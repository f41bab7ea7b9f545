extension String {
    /// Whether both strings are the same UTF-8 bytes.
    ///
    /// Swift's `==` takes canonically equivalent strings for equal.
    func hasBytes(of other: String) -> Bool {
        // Most have another length, which is known without reading them.
        guard utf8.count == other.utf8.count else { return false }
        let (own, others) = (utf8.span, other.utf8.span)
        for index in own.indices where own[index] != others[index] { return false }
        return true
    }

    /// Nil unless all of it is UTF-8.
    init?(strictUTF8 bytes: Span<UInt8>) {
        guard let text = try? UTF8Span(validating: bytes) else { return nil }
        self.init(copying: text)
    }
}

/// Bytes as a key, hashed all at once: an array hashes each of its elements.
package struct HashedBytes: Hashable, Sendable {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package func hash(into hasher: inout Hasher) { unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) } }
}
