import COpenSSL

/// An owned X509_SIG that contains an EncryptedPrivateKeyInfo (RFC 5958 §3).
@safe struct EncryptedKeyInfo: ~Copyable {
    private let pointer: OpaquePointer  // <X509_SIG>

    /// Takes ownership: the caller must not free `pointer`.
    init(takingOwnershipOf pointer: OpaquePointer) {
        unsafe self.pointer = unsafe pointer
    }

    deinit { unsafe X509_SIG_free(pointer) }

    /// Reads a whole DER EncryptedPrivateKeyInfo.
    static func reading(der: [UInt8]) throws(OpenSSLError) -> EncryptedKeyInfo {
        let decoded = try unsafe DER.decoding(der, by: "d2i_X509_SIG") { unsafe d2i_X509_SIG(nil, $0, $1) }
        let info = unsafe EncryptedKeyInfo(takingOwnershipOf: decoded.pointer)
        try check("d2i_X509_SIG") { unsafe decoded.consumed == der.count ? 1 : 0 }
        return info
    }

    func der() throws(OpenSSLError) -> [UInt8] {
        try unsafe DER.encoding("i2d_X509_SIG") { unsafe i2d_X509_SIG(pointer, $0) }
    }

    /// Decrypts the key; throws if the passphrase is wrong or the bytes are damaged.
    ///
    /// The two cases cannot be told apart.
    func decrypted(with passphrase: Secret) throws(OpenSSLError) -> PrivateKeyInfo {
        try unsafe passphrase.withBytes { bytes throws(OpenSSLError) in
            let characters = unsafe bytes.bindMemory(to: CChar.self)
            return try unsafe PrivateKeyInfo(
                takingOwnershipOf: checkNotNull("PKCS8_decrypt") {
                    unsafe PKCS8_decrypt(pointer, characters.baseAddress, CInt(characters.count))
                })
        }
    }
}
