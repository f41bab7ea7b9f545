import COpenSSL

/// An EVP_CIPHER_CTX for one message under AES-GCM (NIST SP 800-38D).
@safe struct CipherContext: ~Copyable {
    enum Cipher: Int {
        /// The cipher of Web Push's content coding (RFC 8188 §2), which defines no other.
        case aes128GCM = 16
        /// The cipher of all data that the agent seals itself.
        case aes256GCM = 32

        var keyCount: Int { rawValue }

        var algorithm: OpaquePointer? {  // <EVP_CIPHER>
            switch self {
            case .aes128GCM: unsafe EVP_aes_128_gcm()
            case .aes256GCM: unsafe EVP_aes_256_gcm()
            }
        }
    }

    static let nonceCount = 12
    static let tagCount = 16

    private let pointer: OpaquePointer  // <EVP_CIPHER_CTX>
    private let cipher: Cipher

    init(_ cipher: Cipher = .aes256GCM) throws(OpenSSLError) {
        self.cipher = cipher
        unsafe pointer = try checkNotNull("EVP_CIPHER_CTX_new") { unsafe EVP_CIPHER_CTX_new() }
    }

    deinit { unsafe EVP_CIPHER_CTX_free(pointer) }

    /// Encrypts, and returns the ciphertext, as long as `plain`, with the tag after it.
    ///
    /// A nonce must never be used again under the same key.
    consuming func encrypt(
        _ plain: Secret, key: Secret, nonce: [UInt8], additional: [UInt8]
    ) throws(OpenSSLError) -> [UInt8] {
        try start(isEncrypting: 1, key: key, nonce: nonce, additional: additional)
        var output = [UInt8](repeating: 0, count: plain.count)
        var count: CInt = 0
        try unsafe plain.withBytes { bytes throws(OpenSSLError) in
            let input = unsafe bytes.bindMemory(to: UInt8.self)
            try check("EVP_CipherUpdate") {
                unsafe EVP_CipherUpdate(pointer, &output, &count, input.baseAddress, CInt(input.count))
            }
        }
        return output + (try tag())
    }

    /// Encrypts bytes that are not a secret of the agent, and so use no room in the memory for secrets.
    consuming func encrypt(
        _ plain: [UInt8], key: Secret, nonce: [UInt8], additional: [UInt8]
    ) throws(OpenSSLError) -> [UInt8] {
        try start(isEncrypting: 1, key: key, nonce: nonce, additional: additional)
        var output = [UInt8](repeating: 0, count: plain.count)
        var count: CInt = 0
        try check("EVP_CipherUpdate") {
            unsafe EVP_CipherUpdate(pointer, &output, &count, plain, CInt(plain.count))
        }
        return output + (try tag())
    }

    private func tag() throws(OpenSSLError) -> [UInt8] {
        var tag = [UInt8](repeating: 0, count: Self.tagCount)
        var count: CInt = 0
        // GCM is a stream mode: the final call adds no bytes and only makes the tag.
        try check("EVP_CipherFinal_ex") { unsafe EVP_CipherFinal_ex(pointer, &tag, &count) }
        try check("EVP_CTRL_AEAD_GET_TAG") {
            unsafe EVP_CIPHER_CTX_ctrl(pointer, EVP_CTRL_AEAD_GET_TAG, CInt(Self.tagCount), &tag)
        }
        return tag
    }

    /// Decrypts, or returns `nil` if the tag is not valid.
    ///
    /// In that case the decrypted bytes are wiped and never returned.
    consuming func decrypt(
        _ ciphertext: [UInt8], tag: [UInt8], key: Secret, nonce: [UInt8], additional: [UInt8]
    ) throws(OpenSSLError) -> Secret? {
        try start(isEncrypting: 0, key: key, nonce: nonce, additional: additional)
        var count: CInt = 0
        let plain = try unsafe Secret(count: ciphertext.count) { output throws(OpenSSLError) in
            let start = unsafe output.bindMemory(to: UInt8.self).baseAddress
            try check("EVP_CipherUpdate") {
                unsafe EVP_CipherUpdate(pointer, start, &count, ciphertext, CInt(ciphertext.count))
            }
        }
        return try holds(tag) ? plain : nil
    }

    /// Decrypts bytes that are not a secret of the agent, or returns `nil` if the tag is not valid.
    consuming func decryptBytes(
        _ ciphertext: [UInt8], tag: [UInt8], key: Secret, nonce: [UInt8], additional: [UInt8]
    ) throws(OpenSSLError) -> [UInt8]? {
        try start(isEncrypting: 0, key: key, nonce: nonce, additional: additional)
        var plain = [UInt8](repeating: 0, count: ciphertext.count)
        var count: CInt = 0
        try check("EVP_CipherUpdate") {
            unsafe EVP_CipherUpdate(pointer, &plain, &count, ciphertext, CInt(ciphertext.count))
        }
        return try holds(tag) ? plain : nil
    }

    private func holds(_ tag: [UInt8]) throws(OpenSSLError) -> Bool {
        var tag = tag
        try check("EVP_CTRL_AEAD_SET_TAG") {
            unsafe EVP_CIPHER_CTX_ctrl(pointer, EVP_CTRL_AEAD_SET_TAG, CInt(tag.count), &tag)
        }
        var rest = [UInt8](repeating: 0, count: Self.tagCount)
        var count: CInt = 0
        let holds = unsafe EVP_CipherFinal_ex(pointer, &rest, &count) == 1
        // An invalid tag is an answer, not a failure of OpenSSL.
        if !holds { OpenSSLError.discardQueue() }
        return holds
    }

    private func start(
        isEncrypting: CInt, key: Secret, nonce: [UInt8], additional: [UInt8]
    ) throws(OpenSSLError) {
        // OpenSSL reads as many bytes as the cipher needs, regardless of the length of the arrays.
        try check("AES-GCM key and nonce") { key.count == cipher.keyCount && nonce.count == Self.nonceCount ? 1 : 0 }
        try unsafe key.withBytes { bytes throws(OpenSSLError) in
            let key = unsafe bytes.bindMemory(to: UInt8.self).baseAddress
            try check("EVP_CipherInit_ex2") {
                unsafe EVP_CipherInit_ex2(pointer, cipher.algorithm, key, nonce, isEncrypting, nil)
            }
        }
        var count: CInt = 0
        try check("EVP_CipherUpdate") {
            unsafe EVP_CipherUpdate(pointer, nil, &count, additional, CInt(additional.count))
        }
    }
}
