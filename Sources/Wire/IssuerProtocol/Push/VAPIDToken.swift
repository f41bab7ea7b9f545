import StrictJSON

/// The JWT of a push (RFC 8292 §2), parsed but not verified.
struct VAPIDToken {
    /// The maximum seconds from now to `exp` (§2).
    static let longest: Int64 = 86_400
    /// The seconds by which the clocks of sender and receiver may differ.
    static let clockTolerance: Int64 = 60

    let signature: [UInt8]
    let signingInput: [UInt8]
    private let claims: JSONObject

    /// Parses a JWT with `alg` ES256, no `crit`, and `typ` JWT or none.
    init(_ text: String) throws(VAPIDRefusal) {
        guard let parts = JWSParts(text), let header = Self.object(parts.header),
            let claims = Self.object(parts.payload)
        else { throw .vapidToken }
        guard header["alg"] == "ES256" else { throw .vapidAlgorithm }
        // RFC 7519 §5.1: the name of a media type, which is compared without regard to case.
        guard header["typ"].map(Self.isJWT) ?? true else { throw .vapidType }
        guard header["crit"] == nil else { throw .vapidCritical }
        self.claims = claims
        signature = parts.signature
        signingInput = parts.signingInput
    }

    /// Refuses a token for another origin than the endpoint's, and a token that is not valid at `now` (since 1970).
    func verify(origin: String, now: Int64) throws(VAPIDRefusal) {
        guard [.string(origin), .array([.string(origin)])].contains(claims["aud"]) else { throw .vapidAudience }
        guard let exp = try? claims.integer("exp"), exp > now - Self.clockTolerance else { throw .vapidExpired }
        guard exp <= now + Self.longest + Self.clockTolerance else { throw .vapidTooLong }
        guard claims["nbf"] != nil else { return }
        guard let nbf = try? claims.integer("nbf"), nbf <= now + Self.clockTolerance else { throw .vapidNotYet }
    }

    private static func object(_ bytes: [UInt8]) -> JSONObject? {
        try? JSONReader.object(bytes, limits: JSONLimits(maxBytes: AuthorizationParameters.limit))
    }

    private static func isJWT(_ type: JSONValue) -> Bool {
        guard case .string(let name) = type else { return false }
        return name.lowercased().utf8.elementsEqual("jwt".utf8)
    }
}

extension VAPIDToken {
    /// Returns the bytes to sign, for the issuer's side.
    static func signingInput(origin: String, exp: Int64, subject: String?) -> [UInt8] {
        var claims: JSONObject = ["aud": .string(origin), "exp": .integer(exp)]
        claims["sub"] = subject.map { .string($0) }
        return JWSParts.signingInput(header: ["typ": "JWT", "alg": "ES256"], payload: claims.serialized())
    }
}
