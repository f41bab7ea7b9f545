package import Keys
package import StrictJSON
import TextAndTime

/// An issuer's keys (RFC 7517 §5): the usable keys by `kid`, and the reasons why the others are ignored.
///
/// A usable key can verify an authn request.
package struct JWKSet: Sendable {
    /// The maximum length of a `kid`, in bytes.
    static let maxKeyIDBytes = 256
    /// The maximum number of keys in a set, usable and ignored together.
    private static let maxKeys = 100

    private let keys: [(kid: String, key: PublicKey)]
    /// The ignored keys, in the order of the set: at most 100, of about 500 bytes each.
    package let ignored: [IgnoredKey]

    /// Creates a set of keys for ES256.
    ///
    /// A key for another algorithm is left out, as a reader would ignore it.
    package init(keys: [(kid: String, key: PublicKey)]) {
        self.keys = keys.filter { $0.key.algorithm == .es256 }
        ignored = []
    }

    /// Reads a set: the keys that can verify a request, and the reasons why the others cannot.
    ///
    /// A key that appears twice under the same `kid` counts once.
    ///
    /// Throws if the set is malformed, has more than 100 keys, or has two different usable keys with one `kid`.
    package init(json bytes: [UInt8]) throws(ProtocolError) {
        (keys, ignored) = try ProtocolError.readingObject("JWK Set", in: bytes) { object in
            var keys: [(kid: String, key: PublicKey)] = []
            var ignored: [IgnoredKey] = []
            for value in try object.array("keys", count: 0...Self.maxKeys) {
                do throws(IgnoredKey) {
                    let entry = try IgnoredKey.usable(value)
                    guard let same = keys.first(where: { $0.kid.utf8.elementsEqual(entry.kid.utf8) }) else {
                        keys.append(entry)
                        continue
                    }
                    guard same.key != entry.key else { continue }
                } catch {
                    ignored.append(error)
                    continue
                }
                throw JSONMemberError(path: "/keys", problem: "two different keys have the same kid")
            }
            return (keys, ignored)
        }
    }

    /// The number of usable keys.
    package var count: Int { keys.count }

    /// The key with exactly this `kid`.
    package subscript(kid: String) -> PublicKey? {
        keys.first { $0.kid.utf8.elementsEqual(kid.utf8) }?.key
    }

    package var json: JSONObject {
        ["keys": .array(keys.compactMap { Self.jwk(kid: $0.kid, key: $0.key).map(JSONValue.object) })]
    }

    /// Returns a key in the form that the set writes.
    ///
    /// `nil` if the key is not on P-256.
    package static func jwk(kid: String, key: PublicKey) -> JSONObject? {
        guard case .p256(let x, let y) = key.material else { return nil }
        return [
            "kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": .string(kid),
            "x": .string(Base64URL.encode(x)), "y": .string(Base64URL.encode(y)),
        ]
    }
}

// MARK: Why there is no key

extension JWKSet {
    /// Returns the reason why the set has no usable key of this `kid`.
    ///
    /// It is one line that is safe to print, at most 900 bytes. The text is defined only here: log, `status`, `doctor`
    /// and `check-request` print it.
    package func absence(of kid: String) -> String {
        let name = IgnoredKey.quoted(kid)
        if let key = ignored.first(where: { $0.kid?.utf8.elementsEqual(kid.utf8) == true }) {
            return "the key \(name) of the issuer's JWK Set is ignored: \(key.problem)"
        }
        let nameless = ignored.first { $0.kid == nil }
        return "the issuer's JWK Set has no key \(name)"
            + (nameless.map { "; a key in it \($0.name) is ignored: \($0.problem)" } ?? "")
    }

    /// The reason why the set has no usable key at all, like ``absence(of:)``.
    ///
    /// `nil` if it has one.
    package var emptiness: String? {
        guard keys.isEmpty else { return nil }
        guard let first = ignored.first else { return "the issuer's JWK Set has no key" }
        let others = ignored.count > 1 ? "; \(ignored.count - 1) more are ignored" : ""
        return "the issuer's JWK Set has no usable key: the key \(first.name) is ignored: \(first.problem)\(others)"
    }
}
