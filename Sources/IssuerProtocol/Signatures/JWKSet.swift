package import Keys
package import StrictJSON

/// An issuer's keys (RFC 7517 §5): those that can sign an authn request, by their `kid`.
package struct JWKSet: Sendable {
    /// The longest `kid` that is looked at, in bytes.
    static let maxKeyIDBytes = 256

    private let keys: [(kid: String, key: PublicKey)]

    /// A set of keys for ES256; one for another algorithm is left out, as a reader would ignore it.
    package init(keys: [(kid: String, key: PublicKey)]) {
        self.keys = keys.filter { $0.key.algorithm == .es256 }
    }

    /// Keeps the keys that can verify a request: P-256 for ES256, with a `kid`.
    ///
    /// It takes keys with `kty` EC, `crv` P-256, `alg` ES256, `use` sig and a `kid`, whatever their `key_ops` say, and
    /// ignores all others.
    ///
    /// Throws if the set is malformed, has more than 100 keys, or has two usable keys with one `kid`.
    package init(json bytes: [UInt8]) throws(ProtocolError) {
        keys = try ProtocolError.readingObject("JWK Set", in: bytes) { object in
            var keys: [(kid: String, key: PublicKey)] = []
            for case .object(let jwk) in try object.array("keys", count: 0...100) {
                guard let entry = Self.usable(jwk) else { continue }
                guard !keys.contains(where: { $0.kid.utf8.elementsEqual(entry.kid.utf8) }) else {
                    throw JSONMemberError(path: "/keys", problem: "two keys have the same kid")
                }
                keys.append(entry)
            }
            return keys
        }
    }

    /// The number of usable keys.
    package var count: Int { keys.count }

    /// The key with exactly this `kid`.
    package subscript(kid: String) -> PublicKey? {
        keys.first { $0.kid.utf8.elementsEqual(kid.utf8) }?.key
    }

    package var json: JSONObject {
        ["keys": .array(keys.compactMap(Self.jwk))]
    }

    private static func jwk(kid: String, key: PublicKey) -> JSONValue? {
        guard case .p256(let x, let y) = key.material else { return nil }
        return [
            "kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": .string(kid),
            "x": .string(Base64URL.encode(x)), "y": .string(Base64URL.encode(y)),
        ]
    }

    /// What a key that signs is not for (RFC 7517 §4.3).
    private static let otherUses: Set<String> = [
        "encrypt", "decrypt", "wrapKey", "unwrapKey", "deriveKey", "deriveBits",
    ]

    /// RFC 7517 §4.3: what `use` and `key_ops` say must be consistent, and no operation may be named twice.
    private static func isForVerification(_ jwk: JSONObject) -> Bool {
        guard let value = jwk["key_ops"] else { return true }
        guard case .array(let operations) = value else { return false }
        let names = operations.compactMap { operation -> String? in
            if case .string(let name) = operation { name } else { nil }
        }
        return names.count == operations.count && Set(names).count == names.count && names.contains("verify")
            && otherUses.isDisjoint(with: names)
    }

    /// RFC 7517 §5: a key that is not understood, or that lacks or bends a member, is ignored.
    private static func usable(_ jwk: JSONObject) -> (kid: String, key: PublicKey)? {
        guard jwk["kty"] == "EC", jwk["crv"] == "P-256", jwk["alg"] == "ES256", jwk["use"] == "sig",
            isForVerification(jwk),
            let kid = try? jwk.string("kid", bytes: 1...maxKeyIDBytes),
            let x = try? jwk.base64url("x", bytes: 32...32), let y = try? jwk.base64url("y", bytes: 32...32),
            let key = try? PublicKey(.p256(x: x, y: y))
        else { return nil }
        return (kid, key)
    }
}
