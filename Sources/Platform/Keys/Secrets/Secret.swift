import COpenSSL

/// Bytes that no text may show: a passphrase, a PIN, a key.
///
/// The storage is wiped when the last copy goes. Interpolating, describing, reflecting and dumping give "<redacted>",
/// and the type is not `Codable`. What an array held before it became a secret is the caller's to wipe:
/// `init(wiping:)` does both.
package struct Secret: Sendable {
    private let storage: WipedStorage

    package var count: Int { storage.count }

    /// Copies `bytes`; the array itself stays as it was.
    package init(_ bytes: [UInt8]) {
        storage = unsafe bytes.withUnsafeBytes { unsafe WipedStorage(copying: $0) }
    }

    /// Copies `bytes`, then overwrites the array with zeros and empties it.
    ///
    /// Other copies of the array, made before, are not reached.
    package init(wiping bytes: inout [UInt8]) {
        storage = unsafe bytes.withUnsafeBytes { unsafe WipedStorage(copying: $0) }
        unsafe bytes.withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) }
        bytes = []
    }

    /// Copies what another buffer holds; that one is its owner's to wipe.
    init(copying bytes: UnsafeRawBufferPointer) {
        storage = unsafe WipedStorage(copying: bytes)
    }

    /// Lets `fill` write the bytes in place, so that no other memory ever holds them.
    init(
        count: Int, filledBy fill: (UnsafeMutableRawBufferPointer) throws(OpenSSLError) -> Void
    ) throws(OpenSSLError) {
        storage = try unsafe WipedStorage(count: count, filledBy: fill)
    }

    /// Random bytes from the generator that OpenSSL keeps for private values.
    package static func random(_ count: Int) throws(OpenSSLError) -> Secret {
        try unsafe Secret(count: count) { buffer throws(OpenSSLError) in
            try check("RAND_priv_bytes_ex") {
                unsafe RAND_priv_bytes_ex(nil, buffer.baseAddress, buffer.count, 0)
            }
        }
    }

    /// Lends the bytes for the time of the call.
    ///
    /// The pointer must not leave `body`, nor a copy of what it points to.
    package func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe storage.withBytes(body)
    }
}

extension Secret: Equatable {
    /// Constant-time, except for the lengths.
    package static func == (left: Secret, right: Secret) -> Bool {
        guard left.count == right.count else { return false }
        return unsafe left.withBytes { a in
            unsafe right.withBytes { b in unsafe CRYPTO_memcmp(a.baseAddress, b.baseAddress, a.count) == 0 }
        }
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }
    /// Without children: `dump` walks the mirror, whatever the description says.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension Secret {
    /// The bytes as lower-case hexadecimal digits, twice as many, themselves secret.
    func hexadecimal() throws(OpenSSLError) -> Secret {
        try unsafe Secret(count: 2 * count) { output throws(OpenSSLError) in
            unsafe withBytes { bytes in
                for index in bytes.indices {
                    unsafe output[2 * index] = Self.digit(bytes[index] >> 4)
                    unsafe output[2 * index + 1] = Self.digit(bytes[index] & 0x0F)
                }
            }
        }
    }

    /// Arithmetic, not a table: a table's cache lines would tell which digits were looked up.
    private static func digit(_ value: UInt8) -> UInt8 {
        // 39 is the way from the character after "9" to "a"; the shift makes 1 of every value above 9.
        value + 0x30 + 39 * ((value &+ 6) >> 4)
    }
}

extension Secret {
    /// The parts one after the other, in memory that no other has held.
    static func joined(_ parts: [Secret]) throws(OpenSSLError) -> Secret {
        try unsafe Secret(count: parts.reduce(0) { $0 + $1.count }) { output throws(OpenSSLError) in
            var offset = 0
            for part in parts {
                unsafe part.withBytes { unsafe output[offset...].copyBytes(from: $0) }
                offset += part.count
            }
        }
    }

    /// The first bytes, or all if there are fewer.
    func prefix(_ count: Int) -> Secret {
        unsafe withBytes { unsafe Secret(copying: UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
    }

    /// The last bytes, or all if there are fewer.
    func suffix(_ count: Int) -> Secret {
        unsafe withBytes { unsafe Secret(copying: UnsafeRawBufferPointer(rebasing: $0.suffix(count))) }
    }
}
