import COpenSSL

/// An OSSL_STORE_CTX that reads the private key in a file's bytes or at a TPM's handle.
@safe struct KeyStore: ~Copyable {
    /// The most objects of a place that are examined: a file can contain certificates besides its key.
    private static let maxObjects = 16

    private let pointer: OpaquePointer  // <OSSL_STORE_CTX>

    private init(takingOwnershipOf pointer: OpaquePointer) {
        unsafe self.pointer = unsafe pointer
    }

    deinit { unsafe OSSL_STORE_close(pointer) }

    /// Returns the private keys among the bytes of a file, in PEM or DER.
    static func keys(
        in bytes: Secret, for answer: PassphraseAnswer, home: ProviderContext?
    ) throws(OpenSSLError) -> [PKey] {
        try unsafe bytes.withBytes { bytes throws(OpenSSLError) in
            let source = try unsafe MemoryBIO(borrowing: bytes)
            return try unsafe source.withPointer { source throws(OpenSSLError) in
                let keys = try unsafe answer.withMethod { method, data throws(OpenSSLError) in
                    try unsafe KeyStore(
                        takingOwnershipOf: checkNotNull("OSSL_STORE_attach") {
                            unsafe OSSL_STORE_attach(
                                source, "file", home?.pointer, home?.properties, method, data, nil, nil, nil)
                        }
                    ).keys(home)
                }
                guard let keys else { throw .drainingQueue(after: "UI_UTIL_wrap_read_pem_callback") }
                return keys
            }
        }
    }

    /// Returns the private keys at a URI that the provider knows.
    static func keys(
        at uri: String, for answer: PassphraseAnswer, home: ProviderContext
    ) throws(OpenSSLError) -> [PKey] {
        let keys = try unsafe answer.withMethod { method, data throws(OpenSSLError) in
            try unsafe KeyStore(
                takingOwnershipOf: checkNotNull("OSSL_STORE_open_ex") {
                    unsafe OSSL_STORE_open_ex(uri, home.pointer, home.properties, method, data, nil, nil, nil)
                }
            ).keys(home)
        }
        guard let keys else { throw .drainingQueue(after: "UI_UTIL_wrap_read_pem_callback") }
        return keys
    }

    private consuming func keys(_ home: ProviderContext?) throws(OpenSSLError) -> [PKey] {
        var keys: [PKey] = []
        for _ in 0..<Self.maxObjects where unsafe OSSL_STORE_eof(pointer) == 0 {
            guard let info = unsafe OSSL_STORE_load(pointer) else {
                // Bytes after the last object of a file are not an object. They are an error only before the first key.
                if !keys.isEmpty { break }
                guard unsafe OSSL_STORE_error(pointer) == 0 else { throw .drainingQueue(after: "OSSL_STORE_load") }
                continue
            }
            defer { unsafe OSSL_STORE_INFO_free(info) }
            if let key = unsafe OSSL_STORE_INFO_get1_PKEY(info) {
                unsafe keys.append(PKey(takingOwnershipOf: key, in: home))
            }
        }
        OpenSSLError.discardQueue()
        return keys
    }
}
