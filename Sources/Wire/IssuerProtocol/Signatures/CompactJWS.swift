import StrictJSON

/// A JWS in compact serialization (RFC 7515 §7.1) signed with ES256, taken apart but not verified.
package struct CompactJWS: Sendable {
    package enum MessageType: String, Sendable {
        case authnRequest = "oob-authn-request+jwt"
        case cancellation = "oob-authn-cancel+jwt"

        /// RFC 7515 §4.1.9: a media type in either case, which may leave out its `application/`.
        package init?(mediaType: String) {
            let prefix = "application/"
            let name = mediaType.lowercased()
            self.init(exactly: name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name)
        }
    }

    package let kid: String
    package let type: MessageType
    package let payload: [UInt8]
    /// r and s of 32 bytes each (RFC 7518 §3.4).
    package let signature: [UInt8]
    /// What the signature is over: the first two parts as they came.
    package let signingInput: [UInt8]

    /// Takes apart what has the shape: three parts, `alg` ES256 or ESP256, a `typ` of ours, no `crit`, a `kid`, a signature of 64
    /// bytes.
    package static func parse(_ text: String) throws(AuthenticityError) -> CompactJWS {
        guard let parts = JWSParts(text) else { throw .notJWS }
        let (kid, type) = try read(header: parts.header)
        guard parts.signature.count == 64 else { throw .signature }
        return CompactJWS(
            kid: kid, type: type, payload: parts.payload, signature: parts.signature, signingInput: parts.signingInput)
    }

    private static func read(header bytes: [UInt8]) throws(AuthenticityError) -> (kid: String, type: MessageType) {
        let limits = JSONLimits(maxBytes: bytes.count, maxValues: 1_000)
        guard let document = try? JSONReader.document(bytes, limits: limits), case .object(let header) = document.root
        else { throw .notJWS }
        guard document.duplicateNames.isEmpty else { throw .duplicateHeaderName }
        // RFC 9864 §2.1: ESP256 is the later name of ES256 on P-256, as in a JWK.
        guard header["alg"] == "ES256" || header["alg"] == "ESP256" else { throw .alg }
        guard case .string(let name)? = header["typ"], let type = MessageType(mediaType: name) else { throw .typ }
        // RFC 7515 §4.1.11: a critical extension that is not understood makes the JWS invalid; none is understood.
        guard header["crit"] == nil else { throw .crit }
        guard let kid = try? header.string("kid", bytes: 1...JWKSet.maxKeyIDBytes) else { throw .kid }
        return (kid, type)
    }
}

extension CompactJWS {
    /// What is to be signed (RFC 7515 §5.1), for whoever plays the issuer.
    package static func signingInput(kid: String, typ: String, payload: [UInt8]) -> [UInt8] {
        let header: JSONObject = ["alg": "ES256", "kid": .string(kid), "typ": .string(typ)]
        return JWSParts.signingInput(header: header, payload: payload)
    }

    /// The whole, from what was signed and its signature of 64 bytes.
    package static func compact(signingInput: [UInt8], signature: [UInt8]) -> String {
        JWSParts.compact(signingInput: signingInput, signature: signature)
    }
}
