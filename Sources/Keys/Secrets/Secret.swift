import COpenSSL

/// Octets that no text may show: a passphrase, a PIN, a key.
///
/// The storage is wiped when the last copy goes. Interpolating, describing, reflecting and dumping give "<redacted>",
/// and the type is not `Codable`. What an array held before it became a secret is the caller's to wipe:
/// `init(wiping:)` does both.
package struct Secret: Sendable {
    private let storage: WipedStorage

    package var count: Int { storage.count }

    /// Copies `octets`; the array itself stays as it was.
    package init(_ octets: [UInt8]) {
        storage = unsafe octets.withUnsafeBytes { unsafe WipedStorage(copying: $0) }
    }

    /// Copies `octets`, then overwrites the array with zeros and empties it.
    ///
    /// Other copies of the array, made before, are not reached.
    package init(wiping octets: inout [UInt8]) {
        storage = unsafe octets.withUnsafeBytes { unsafe WipedStorage(copying: $0) }
        unsafe octets.withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) }
        octets = []
    }

    /// Copies what another buffer holds; that one is its owner's to wipe.
    init(copying octets: UnsafeRawBufferPointer) {
        storage = unsafe WipedStorage(copying: octets)
    }

    /// Lets `fill` write the octets in place, so that no other memory ever holds them.
    init(
        count: Int, filledBy fill: (UnsafeMutableRawBufferPointer) throws(OpenSSLError) -> Void
    ) throws(OpenSSLError) {
        storage = try unsafe WipedStorage(count: count, filledBy: fill)
    }

    /// Random octets from the generator that OpenSSL keeps for private values.
    package static func random(_ count: Int) throws(OpenSSLError) -> Secret {
        try unsafe Secret(count: count) { buffer throws(OpenSSLError) in
            try check("RAND_priv_bytes_ex") {
                unsafe RAND_priv_bytes_ex(nil, buffer.baseAddress, buffer.count, 0)
            }
        }
    }

    /// Lends the octets for the time of the call.
    ///
    /// The pointer must not leave `body`, nor a copy of what it points to.
    package func withOctets<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe storage.withOctets(body)
    }
}

extension Secret: Equatable {
    /// Constant-time, but for the lengths.
    package static func == (left: Secret, right: Secret) -> Bool {
        guard left.count == right.count else { return false }
        return unsafe left.withOctets { a in
            unsafe right.withOctets { b in unsafe CRYPTO_memcmp(a.baseAddress, b.baseAddress, a.count) == 0 }
        }
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }
    /// Without children: `dump` walks the mirror, whatever the description says.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
