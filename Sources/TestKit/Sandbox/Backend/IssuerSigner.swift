import IssuerProtocol
package import Keys
import StrictJSON
import TextAndTime

/// Signs authn requests, cancellations and VAPID tokens; no other code uses the issuer's keys.
package struct IssuerSigner: Sendable {
    private let key: SigningKey
    /// The key's JWK thumbprint (RFC 7638), base64url.
    let kid: String
    private let pushKey: SigningKey
    /// The public key by which authenticators verify that pushes are the issuer's.
    let vapidKey: VAPIDKey

    /// Throws unless both keys are for ES256, the only algorithm for authn requests and for VAPID.
    package init(key: SigningKey, pushKey: SigningKey) throws {
        guard case .p256(let x, let y) = key.publicKey.material else {
            throw KeyError.unsupported("an issuer signs with ES256")
        }
        guard let point = pushKey.publicKey.material.p256Point else {
            throw KeyError.unsupported("VAPID is signed with ES256")
        }
        self.key = key
        self.pushKey = pushKey
        vapidKey = try VAPIDKey(point: point)
        // RFC 7638 §3.2: the required members of an EC key, in lexicographic order, without whitespace.
        let required: JSONObject = [
            "crv": "P-256", "kty": "EC", "x": .string(Base64URL.encode(x)), "y": .string(Base64URL.encode(y)),
        ]
        kid = Base64URL.encode(try SHA256Digest.of(JSONValue.object(required).serialized()))
    }

    var keySet: JWKSet { JWKSet(keys: [(kid: kid, key: key.publicKey)]) }

    /// Signs claims as a compact JWS (RFC 7515 §7.1) with ES256.
    func sign(_ claims: JSONObject, type: CompactJWS.MessageType) throws -> String {
        let payload = JSONValue.object(claims).serialized()
        let input = CompactJWS.signingInput(kid: kid, typ: type.rawValue, payload: payload)
        return CompactJWS.compact(signingInput: input, signature: try key.rawSignature(over: input))
    }

    /// Returns the `Authorization` field of a push (RFC 8292 §3).
    ///
    /// `exp` is in seconds since 1970, at most 24 hours ahead.
    func vapid(for endpoint: PushEndpoint, exp: Int64) throws -> String {
        let input = VAPIDKey.signingInput(for: endpoint, exp: exp)
        return vapidKey.authorization(signingInput: input, signature: try pushKey.rawSignature(over: input))
    }
}
