import COpenSSL

/// Bytes that must not appear in any text: a passphrase, a PIN, a key.
///
/// The storage is wiped with the last copy. Interpolation, description, reflection and `dump` give "<redacted>", and
/// the type is not `Codable`. `init(_:)` does not wipe its array. `init(wiping:)` does.
package struct Secret: Sendable {
    private let storage: WipedStorage

    package var count: Int { storage.count }

    /// Copies `bytes`; the array itself does not change.
    package init(_ bytes: [UInt8]) {
        storage = unsafe bytes.withUnsafeBytes { unsafe WipedStorage(copying: $0) }
    }

    /// Copies `bytes`, then overwrites the array with zeros and empties it.
    ///
    /// Earlier copies of the array are not wiped.
    package init(wiping bytes: inout [UInt8]) {
        storage = unsafe bytes.withUnsafeBytes { unsafe WipedStorage(copying: $0) }
        unsafe bytes.withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) }
        bytes = []
    }

    /// Copies `bytes`.
    ///
    /// The buffer's owner must wipe it.
    init(copying bytes: UnsafeRawBufferPointer) {
        storage = unsafe WipedStorage(copying: bytes)
    }

    /// Lets `fill` write the bytes in place, so that no other memory ever contains them.
    init(
        count: Int, filledBy fill: (UnsafeMutableRawBufferPointer) throws(OpenSSLError) -> Void
    ) throws(OpenSSLError) {
        storage = try unsafe WipedStorage(count: count, filledBy: fill)
    }

    /// Returns random bytes from OpenSSL's generator for private values.
    package static func random(_ count: Int) throws(OpenSSLError) -> Secret {
        try unsafe Secret(count: count) { buffer throws(OpenSSLError) in
            try check("RAND_priv_bytes_ex") {
                unsafe RAND_priv_bytes_ex(nil, buffer.baseAddress, buffer.count, 0)
            }
        }
    }

    /// Lends the bytes for the time of the call.
    ///
    /// The pointer must not leave `body`. Wipe a copy of the bytes that is still secret, or make it a `Secret`.
    package func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe storage.withBytes(body)
    }
}

extension Secret: Equatable {
    /// Compares in constant time, except for the lengths.
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
    /// A mirror without children, because `dump` walks the mirror and not the description.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension Secret {
    /// Returns the bytes as lower-case hexadecimal, two digits a byte.
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

    /// Computes a hexadecimal digit.
    ///
    /// A look-up in a table could leak the value through the cache.
    private static func digit(_ value: UInt8) -> UInt8 {
        // 39 is the distance from the character after "9" to "a". The shift gives 1 for every value above 9.
        value + 0x30 + 39 * ((value &+ 6) >> 4)
    }
}

extension Secret {
    /// Joins the parts directly in the memory of the new secret.
    static func joined(_ parts: [Secret]) throws(OpenSSLError) -> Secret {
        try unsafe Secret(count: parts.reduce(0) { $0 + $1.count }) { output throws(OpenSSLError) in
            var offset = 0
            for part in parts {
                unsafe part.withBytes { unsafe output[offset...].copyBytes(from: $0) }
                offset += part.count
            }
        }
    }

    /// Returns the first bytes, or all if there are fewer.
    func prefix(_ count: Int) -> Secret {
        unsafe withBytes { unsafe Secret(copying: UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
    }

    /// Returns the last bytes, or all if there are fewer.
    func suffix(_ count: Int) -> Secret {
        unsafe withBytes { unsafe Secret(copying: UnsafeRawBufferPointer(rebasing: $0.suffix(count))) }
    }
}
