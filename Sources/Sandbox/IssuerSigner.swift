import IssuerProtocol
package import Keys
import StrictJSON

/// Signs authn requests and cancellations: the only place where the issuer's key is used.
package struct IssuerSigner: Sendable {
    private let key: SigningKey
    /// The key's JWK thumbprint (RFC 7638), base64url.
    let kid: String

    /// Throws for a key of another algorithm than ES256, the only one for authn requests.
    package init(key: SigningKey) throws {
        guard case .p256(let x, let y) = key.publicKey.material else {
            throw KeyError.unsupported("an issuer signs with ES256")
        }
        self.key = key
        // RFC 7638 §3.2: the required members of an EC key, in lexicographic order, without whitespace.
        let required: JSONObject = [
            "crv": "P-256", "kty": "EC", "x": .string(Base64URL.encode(x)), "y": .string(Base64URL.encode(y)),
        ]
        kid = Base64URL.encode(try SHA256Digest.of(JSONValue.object(required).serialized()))
    }

    var keySet: JWKSet { JWKSet(keys: [(kid: kid, key: key.publicKey)]) }

    /// A compact JWS (RFC 7515 §7.1) with ES256.
    func sign(_ claims: JSONObject, type: CompactJWS.MessageType) throws -> String {
        let payload = JSONValue.object(claims).serialized()
        let input = CompactJWS.signingInput(kid: kid, typ: type.rawValue, payload: payload)
        return CompactJWS.compact(signingInput: input, signature: try key.rawSignature(over: input))
    }
}
