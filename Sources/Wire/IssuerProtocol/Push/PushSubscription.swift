package import Keys
package import StrictJSON
import TextAndTime

/// A push subscription in an enrollment: the JSON of the W3C's Push API (§8, `toJSON`).
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
        // The agent's own subscription never expires. The date of another sender's is that sender's concern.
        _ = try json.optionalInteger("expirationTime", in: 0...Int64.max)
        let keys = try json.object("keys")
        do throws(JSONMemberError) {
            recipient = try Self.recipient(keys)
        } catch {
            throw error.inside("keys")
        }
    }

    /// The JSON form, which contains the auth secret in clear.
    ///
    /// Use it only for a message's body.
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
