package import Keys
package import StrictJSON
import TextAndTime

/// A push subscription as an enrollment carries it: the JSON of the W3C's Push API (§8, `toJSON`).
package struct PushSubscription: Sendable, Equatable {
    package let endpoint: PushEndpoint
    package let recipient: PushRecipient

    package init(endpoint: PushEndpoint, recipient: PushRecipient) {
        self.endpoint = endpoint
        self.recipient = recipient
    }

    package init(bytes: [UInt8]) throws(ProtocolError) {
        self = try ProtocolError.readingObject("push subscription", in: bytes) { try PushSubscription(json: $0) }
    }

    package init(json: JSONObject) throws(JSONMemberError) {
        endpoint = try Self.endpoint(json.string("endpoint", bytes: 1...PushEndpoint.limit))
        // The agent's own never expires; another's date is the other's matter.
        _ = try json.optionalInteger("expirationTime", in: 0...Int64.max)
        let keys = try json.object("keys")
        do throws(JSONMemberError) {
            recipient = try Self.recipient(keys)
        } catch {
            throw error.inside("keys")
        }
    }

    /// Holds the auth secret in clear: for a message's body only.
    package var json: JSONObject {
        let auth = unsafe recipient.auth.withBytes { unsafe Base64URL.encode(Array($0)) }
        return [
            "endpoint": .string(endpoint.text), "expirationTime": .null,
            "keys": ["p256dh": .string(Base64URL.encode(recipient.p256dh)), "auth": .string(auth)],
        ]
    }

    private static func endpoint(_ text: String) throws(JSONMemberError) -> PushEndpoint {
        do throws(ProtocolError) {
            return try PushEndpoint(text)
        } catch {
            throw JSONMemberError(path: "/endpoint", problem: error.what)
        }
    }

    private static func recipient(_ keys: JSONObject) throws(JSONMemberError) -> PushRecipient {
        let point = try keys.base64url(
            "p256dh", bytes: PublicKeyMaterial.p256PointCount...PublicKeyMaterial.p256PointCount)
        var auth = try keys.base64url("auth", bytes: PushRecipient.authCount...PushRecipient.authCount)
        do throws(KeyError) {
            return try PushRecipient(p256dh: point, auth: Secret(wiping: &auth))
        } catch {
            throw JSONMemberError(path: "/p256dh", problem: "must be an uncompressed point on P-256")
        }
    }
}

/// The URL that takes the pushes for one enrollment (RFC 8030 §5).
///
/// It leads to the agent's receiver, or to a push service in front of it.
///
/// `https`, or `http` if the host is loopback; then a path, and perhaps a query. What follows the origin is known to
/// the issuer alone, so only the origin is ever printed.
package struct PushEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// The most bytes.
    package static let limit = 2_048

    package let text: String
    /// Scheme, host and port (RFC 6454 §6.2): what a VAPID token is made for.
    package let origin: String

    package init(_ text: String) throws(ProtocolError) {
        guard text.utf8.count <= Self.limit else { throw Self.refusal("must have at most \(Self.limit) bytes") }
        let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !#"#\"<>^`{|}"#.utf8.contains($0) }
        guard isPlain else { throw Self.refusal("must be an ASCII URL without a fragment") }
        let slashes = text.utf8.indices.filter { text.utf8[$0] == UInt8(ascii: "/") }
        guard slashes.count >= 3 else { throw Self.refusal("must have a path after scheme, host and port") }
        do throws(ProtocolError) {
            origin = try IssuerURL(String(text[..<slashes[2]])).text
        } catch {
            throw Self.refusal(error.what)
        }
        self.text = text
    }

    package var description: String { origin }

    private static func refusal(_ what: String) -> ProtocolError { ProtocolError(what: what, where: "push endpoint") }
}
