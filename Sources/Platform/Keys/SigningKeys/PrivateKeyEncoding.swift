import COpenSSL

/// The only form of a DER PrivateKeyInfo (RFC 5958 §2) that a sealed key has for each algorithm.
///
/// For an elliptic curve it contains the ECPrivateKey of RFC 5915 §3 without parameters and with the public key, for
/// Ed25519 the CurvePrivateKey of RFC 8410 §7. OpenSSL writes the same bytes.
///
/// They are read here and not by OpenSSL's decoders, which copy the bytes into memory that is not locked. This code is
/// also faster. Under callgrind, `EVP_PKCS82PKEY` of OpenSSL 3.0 takes 5.1 million instructions a key in a loop, and
/// this code 0.3 million. An approval takes 8.6 million (`make bench ONLY=instructions`).
private struct PrivateKeyEncoding {
    let algorithm: SignatureAlgorithm

    /// The bytes before the private number.
    var head: [UInt8] {
        switch algorithm {
        case .es256:
            // SEQUENCE { 0, SEQUENCE { id-ecPublicKey, secp256r1 }, OCTET STRING { SEQUENCE { 1, OCTET STRING …
            [0x30, 0x81, 0x87, 0x02, 0x01, 0x00, 0x30, 0x13] + Self.idECPublicKey
                + [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
                + [0x04, 0x6D, 0x30, 0x6B, 0x02, 0x01, 0x01, 0x04, 0x20]
        case .es384:  // As es256, with secp384r1.
            [0x30, 0x81, 0xB6, 0x02, 0x01, 0x00, 0x30, 0x10] + Self.idECPublicKey
                + [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22]
                + [0x04, 0x81, 0x9E, 0x30, 0x81, 0x9B, 0x02, 0x01, 0x01, 0x04, 0x30]
        case .eddsa:  // SEQUENCE { 0, SEQUENCE { id-Ed25519 }, OCTET STRING { OCTET STRING …
            [0x30, 0x2E, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20]
        }
    }

    /// The bytes between the private number and the public point, which begins with 04 (uncompressed).
    var middle: [UInt8] {
        switch algorithm {
        case .es256: [0xA1, 0x44, 0x03, 0x42, 0x00]
        case .es384: [0xA1, 0x64, 0x03, 0x62, 0x00]
        case .eddsa: []
        }
    }

    var numberCount: Int { algorithm.ecNumberCount ?? PublicKeyMaterial.ed25519Count }

    var pointCount: Int { algorithm.ecNumberCount.map { 1 + 2 * $0 } ?? 0 }

    private static let idECPublicKey: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01]

    /// Reads the key from bytes in this form, or returns `nil` for another form.
    func key(in bytes: UnsafeRawBufferPointer) throws(KeyError) -> SigningKey? {
        let (head, middle) = (head, middle)
        let number = unsafe UnsafeRawBufferPointer(rebasing: bytes.dropFirst(head.count).prefix(numberCount))
        let rest = unsafe bytes.dropFirst(head.count + numberCount)
        guard bytes.count == head.count + numberCount + middle.count + pointCount, unsafe bytes.starts(with: head),
            unsafe rest.starts(with: middle)
        else { return nil }
        do throws(OpenSSLError) {
            let point = unsafe Array(rest.dropFirst(middle.count))
            let pair = unsafe try PKey(algorithm, number: number, point: point)
            // OpenSSL accepted this point, and takes long to return it.
            guard let material = PublicKeyMaterial(algorithm, bytes: point.dropFirst()) else {
                return try SigningKey(pair, algorithm)
            }
            return SigningKey(pair, material)
        } catch {
            throw .malformed(error)
        }
    }
}

extension SigningKey {
    /// Returns the key as a DER PrivateKeyInfo, in clear.
    func privateKeyInfo() throws(OpenSSLError) -> Secret { try PrivateKeyInfo(of: pair).der() }

    /// Reads the result of ``privateKeyInfo()``, or returns `nil` for every other form.
    ///
    /// It does not check that the public half belongs to the private one. Read only bytes that are known to be ours.
    static func reading(privateKeyInfo: Secret) throws(KeyError) -> SigningKey? {
        for algorithm in SignatureAlgorithm.allCases {
            let found = try unsafe privateKeyInfo.withBytes { bytes throws(KeyError) in
                try unsafe PrivateKeyEncoding(algorithm: algorithm).key(in: bytes)
            }
            if let found { return found }
        }
        return nil
    }
}

extension PKey {
    /// Makes a pair from its private number, big-endian, and its uncompressed public point.
    ///
    /// Ed25519 computes the point.
    fileprivate convenience init(
        _ algorithm: SignatureAlgorithm, number: UnsafeRawBufferPointer, point: [UInt8]
    ) throws(OpenSSLError) {
        let bytes = unsafe number.bindMemory(to: UInt8.self).baseAddress
        unsafe self.init(
            takingOwnershipOf: try checkNotNull("EVP_PKEY_fromdata") {
                switch algorithm {
                case .es256: unsafe shim_ec_pair("P-256", bytes, CInt(number.count), point, point.count)
                case .es384: unsafe shim_ec_pair("P-384", bytes, CInt(number.count), point, point.count)
                case .eddsa: unsafe EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, bytes, number.count)
                }
            })
    }
}
