import COpenSSL

/// SHA-256 (FIPS 180-4) of bytes that arrive in pieces.
@safe package struct RunningSHA256: ~Copyable {
    private let pointer: OpaquePointer  // <EVP_MD_CTX>

    package init() throws(OpenSSLError) {
        unsafe pointer = try Self.context { context in unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil) }
    }

    deinit { unsafe EVP_MD_CTX_free(pointer) }

    package func update(_ piece: [UInt8]) throws(OpenSSLError) {
        try check("EVP_DigestUpdate") { unsafe EVP_DigestUpdate(pointer, piece, piece.count) }
    }

    /// Returns the 32 bytes of the digest of all pieces so far.
    package func digest() throws(OpenSSLError) -> [UInt8] {
        let copy = unsafe try Self.context { copy in unsafe EVP_MD_CTX_copy_ex(copy, pointer) }
        defer { unsafe EVP_MD_CTX_free(copy) }
        var digest = [UInt8](repeating: 0, count: SHA256Digest.count)
        try check("EVP_DigestFinal_ex") { unsafe EVP_DigestFinal_ex(copy, &digest, nil) }
        return digest
    }

    /// Creates a context that the caller owns, and prepares it with `begin`.
    private static func context(_ begin: (OpaquePointer) -> CInt) throws(OpenSSLError) -> OpaquePointer {
        let context = unsafe try checkNotNull("EVP_MD_CTX_new") { unsafe EVP_MD_CTX_new() }
        do throws(OpenSSLError) {
            try check("EVP_DigestInit_ex") { unsafe begin(context) }
        } catch {
            unsafe EVP_MD_CTX_free(context)
            throw error
        }
        return unsafe context
    }
}
