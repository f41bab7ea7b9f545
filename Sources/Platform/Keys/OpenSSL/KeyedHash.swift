import COpenSSL

/// HMAC-SHA256 (RFC 2104) of several messages in turn, under one key.
///
/// The context is created once, and restarted for each message.
@safe package final class KeyedHash {
    private let context: OpaquePointer  // <EVP_MAC_CTX>

    init(key: Secret) throws(OpenSSLError) {
        let algorithm = unsafe try checkNotNull("EVP_MAC_fetch") { unsafe EVP_MAC_fetch(nil, "HMAC", nil) }
        defer { unsafe EVP_MAC_free(algorithm) }
        let context = unsafe try checkNotNull("EVP_MAC_CTX_new") { unsafe EVP_MAC_CTX_new(algorithm) }
        do throws(OpenSSLError) {
            try unsafe key.withBytes { key throws(OpenSSLError) in
                let key = unsafe key.bindMemory(to: UInt8.self)
                try check("EVP_MAC_init") { unsafe shim_hmac_sha256_init(context, key.baseAddress, key.count) }
            }
        } catch {
            unsafe EVP_MAC_CTX_free(context)
            throw error
        }
        unsafe self.context = unsafe context
    }

    deinit { unsafe EVP_MAC_CTX_free(context) }

    /// Returns the 32 bytes of the code of a message.
    package func code(of message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try check("EVP_MAC_init") { unsafe EVP_MAC_init(context, nil, 0, nil) }
        try check("EVP_MAC_update") { unsafe EVP_MAC_update(context, message, message.count) }
        var code = [UInt8](repeating: 0, count: SHA256Digest.count)
        var count = 0
        try check("EVP_MAC_final") { unsafe EVP_MAC_final(context, &code, &count, code.count) }
        return code
    }
}

extension DataKey {
    /// Creates a keyed hash for one use, under a key that is derived from this one for that use.
    package func keyedHash(for use: String) throws(OpenSSLError) -> KeyedHash {
        try KeyedHash(key: HKDF.expand(secret, info: Array(use.utf8)))
    }
}
