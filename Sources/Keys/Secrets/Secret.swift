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
    /// Constant-time, but for the lengths.
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
