import Keys
import StrictJSON
import TextAndTime

/// A key in a JWK Set that cannot verify requests, with the reason.
package struct IgnoredKey: Error, Sendable, Equatable {
    /// The rule that a JWK breaks, in the order of the checks.
    package enum Rule: String, Sendable, CaseIterable {
        case object, kty, crv, alg, use, keyOps, kid, x, y, point
    }

    package let rule: Rule
    /// The `kid`, at most ``JWKSet/maxKeyIDBytes``.
    ///
    /// `nil` if it is missing or malformed.
    package let kid: String?
    /// The fault as a sentence without its full stop, such as "x has 31 bytes, and P-256 takes 32".
    ///
    /// It is safe to print and at most 300 bytes long.
    package let problem: String

    /// The `kid` for the sentence, escaped and cut after 80 characters.
    package var name: String { kid.map(Self.quoted) ?? "without a usable kid" }

    static func quoted(_ kid: String) -> String { "\"\(EscapedText.of(kid))\"" }
}

extension IgnoredKey {
    /// The operations for which a verification key must not be used (RFC 7517 §4.3).
    private static let otherUses: Set<String> = [
        "encrypt", "decrypt", "wrapKey", "unwrapKey", "deriveKey", "deriveBits",
    ]

    /// Reads a P-256 key for ES256 (RFC 7517, RFC 7518 §6.2.1).
    ///
    /// `alg`, `use` and `key_ops` are optional, because `kty` and `crv` determine the algorithm.
    static func usable(_ value: JSONValue) throws(IgnoredKey) -> (kid: String, key: PublicKey) {
        guard case .object(let jwk) = value else {
            throw IgnoredKey(rule: .object, kid: nil, problem: "it is no JSON object")
        }
        let kid = try? jwk.string("kid", bytes: 1...JWKSet.maxKeyIDBytes)
        func broken(_ rule: Rule, _ problem: String) -> IgnoredKey {
            IgnoredKey(rule: rule, kid: kid, problem: problem)
        }
        guard jwk["kty"] == "EC" else { throw broken(.kty, "kty \(says(jwk["kty"])), and EC is taken") }
        guard jwk["crv"] == "P-256" else { throw broken(.crv, "crv \(says(jwk["crv"])), and P-256 is taken") }
        // RFC 9864 §2.1: ESP256 is ECDSA on P-256 with SHA-256, which is ES256.
        guard isAbsent(jwk["alg"]) || jwk["alg"] == "ES256" || jwk["alg"] == "ESP256" else {
            throw broken(.alg, "alg \(says(jwk["alg"])), and ES256 or ESP256 is taken, or none")
        }
        guard isAbsent(jwk["use"]) || jwk["use"] == "sig" else {
            throw broken(.use, "use \(says(jwk["use"])), and sig is taken, or none")
        }
        if let problem = problem(withOperations: jwk["key_ops"]) { throw broken(.keyOps, problem) }
        guard let kid else { throw broken(.kid, "kid is missing, or no string of 1 to 256 bytes") }
        let x = try coordinate(.x, of: jwk, kid)
        let y = try coordinate(.y, of: jwk, kid)
        guard let key = try? PublicKey(.p256(x: x, y: y)) else {
            throw broken(.point, "x and y are no point of P-256")
        }
        return (kid, key)
    }

    /// Returns whether an optional member is absent.
    ///
    /// As in all messages, `null` means absent.
    private static func isAbsent(_ value: JSONValue?) -> Bool { value == nil || value == .null }

    private static func says(_ value: JSONValue?) -> String {
        switch value {
        case nil: "is missing"
        case .string(let text): "is \"\(EscapedText.of(text, limit: 24))\""
        default: "is no string"
        }
    }

    /// Returns the fault of `key_ops`.
    ///
    /// `nil` if it has none.
    ///
    /// RFC 7517 §4.3: `use` and `key_ops` must be consistent, and no operation may appear twice.
    private static func problem(withOperations value: JSONValue?) -> String? {
        guard let value, !isAbsent(value) else { return nil }
        guard case .array(let operations) = value else { return "key_ops is no array" }
        let names = operations.compactMap { operation -> String? in
            if case .string(let name) = operation { name } else { nil }
        }
        guard names.count == operations.count else { return "key_ops holds what is no string" }
        guard Set(names).count == names.count else { return "key_ops names an operation twice" }
        guard names.contains("verify") else { return "key_ops does not name verify" }
        let others = otherUses.intersection(names).sorted()
        return others.first.map { "key_ops names \($0), which a key for signatures is not for" }
    }

    /// Reads a coordinate, which must have its full size including leading zeros (RFC 7518 §6.2.1.2).
    private static func coordinate(_ rule: Rule, of jwk: JSONObject, _ kid: String) throws(IgnoredKey) -> [UInt8] {
        let name = rule.rawValue
        func broken(_ problem: String) -> IgnoredKey { IgnoredKey(rule: rule, kid: kid, problem: problem) }
        guard case .string(let text)? = jwk[name] else { throw broken("\(name) is missing, or no string") }
        guard let bytes = Base64URL.decode(text) else {
            throw broken("\(name) is no base64url without padding")
        }
        guard bytes.count == 32 else {
            throw broken("\(name) has \(bytes.count) bytes, and P-256 takes 32, with the zeros that it begins with")
        }
        return bytes
    }
}
