import CCryptoki

/// The public half of a key on a token: the public key object with the same CKA_ID.
enum TokenPublicKey {
    static func read(
        _ session: borrowing TokenSession, of key: CK_OBJECT_HANDLE
    ) throws(ExternalKeyError) -> PublicKey {
        let order = session.order
        guard let id = try session.attribute(CKA_ID, of: key), !id.isEmpty else {
            throw order.failure(.unsupported("the key has no CKA_ID, by which its public half is found; give it one"))
        }
        let found = try session.objects(with: [(CKA_CLASS, TokenTemplate.bytes(CKO_PUBLIC_KEY)), (CKA_ID, id)])
        guard found.count == 1, let object = found.first else {
            throw order.failure(
                found.isEmpty
                    ? .unsupported("the token has no public key with the key's CKA_ID; put it there")
                    : .ambiguous("several public keys have the key's CKA_ID"))
        }
        return try read(session, object)
    }

    static func read(
        _ session: borrowing TokenSession, _ object: CK_OBJECT_HANDLE
    ) throws(ExternalKeyError) -> PublicKey {
        let order = session.order
        guard let algorithm = try session.attribute(CKA_EC_PARAMS, of: object).flatMap(algorithm),
            let point = try session.attribute(CKA_EC_POINT, of: object),
            let material = material(algorithm, point)
        else {
            throw order.failure(.unsupported("it is on neither P-256 nor P-384"))
        }
        do throws(KeyError) {
            return try PublicKey(material)
        } catch {
            throw order.failure(.unsupported(error.description))
        }
    }

    /// Returns the algorithm of CKA_EC_PARAMS, the DER object identifier of a curve (RFC 5480 §2.1.1.1).
    private static func algorithm(_ parameters: [UInt8]) -> SignatureAlgorithm? {
        switch parameters {
        case [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]: .es256
        case [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22]: .es384
        default: nil
        }
    }

    /// Reads CKA_EC_POINT: an uncompressed point in a DER OCTET STRING, which some tokens leave out.
    private static func material(_ algorithm: SignatureAlgorithm, _ point: [UInt8]) -> PublicKeyMaterial? {
        guard let count = algorithm.ecNumberCount else { return nil }
        let length = UInt8(1 + 2 * count)
        let bare = point.starts(with: [0x04, length, 0x04]) ? point.dropFirst(2) : point[...]
        guard bare.first == 0x04 else { return nil }
        return PublicKeyMaterial(algorithm, bytes: bare.dropFirst())
    }
}
