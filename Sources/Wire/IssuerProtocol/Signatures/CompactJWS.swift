import StrictJSON

/// A JWS in compact serialization (RFC 7515 §7.1) signed with ES256, parsed but not verified.
package struct CompactJWS: Sendable {
    package enum MessageType: String, Sendable {
        case authnRequest = "oob-authn-request+jwt"
        case cancellation = "oob-authn-cancel+jwt"

        /// Reads a media type in any case, with or without the prefix `application/` (RFC 7515 §4.1.9).
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
    /// The signed bytes: the first two parts as received.
    package let signingInput: [UInt8]

    /// Parses a JWS of the required shape.
    ///
    /// The shape is three parts, `alg` ES256 or ESP256, a `typ` of this protocol, no `crit`, a `kid`, and a signature
    /// of 64 bytes.
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
        // RFC 7515 §4.1.11: a critical extension that is not supported makes the JWS invalid. This code supports none.
        guard header["crit"] == nil else { throw .crit }
        guard let kid = try? header.string("kid", bytes: 1...JWKSet.maxKeyIDBytes) else { throw .kid }
        return (kid, type)
    }
}

extension CompactJWS {
    /// Returns the bytes to sign (RFC 7515 §5.1), for the issuer's side.
    package static func signingInput(kid: String, typ: String, payload: [UInt8]) -> [UInt8] {
        let header: JSONObject = ["alg": "ES256", "kid": .string(kid), "typ": .string(typ)]
        return JWSParts.signingInput(header: header, payload: payload)
    }

    /// Returns the complete JWS from its signing input and a signature of 64 bytes.
    package static func compact(signingInput: [UInt8], signature: [UInt8]) -> String {
        JWSParts.compact(signingInput: signingInput, signature: signature)
    }
}
