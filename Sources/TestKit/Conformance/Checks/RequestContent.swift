import IssuerProtocol
import StrictJSON
import TextAndTime

/// The content of a message before verification, for the report and for missing facts.
struct RequestContent {
    /// The message, or `nil` if it is not a well-formed JWS.
    let message: CompactJWS?
    private let header: JSONValue?
    private let claims: JSONValue?

    init(_ jws: String) {
        message = jws.utf8.count <= AuthnRequestReader.maxBytes ? try? CompactJWS.parse(jws) : nil
        let parts = jws.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        header = Self.json(parts.first)
        claims = Self.json(parts.dropFirst().first)
    }

    private static func json(_ part: Substring.UTF8View.SubSequence?) -> JSONValue? {
        guard let part, let bytes = Base64URL.decode(String(decoding: part, as: UTF8.self)) else { return nil }
        return try? JSONReader.document(bytes, limits: JSONLimits(maxBytes: RequestCheck.maxFileBytes)).root
    }

    private var object: JSONObject { if case .object(let object)? = claims { object } else { [:] } }
    private var options: JSONObject { (try? object.object("publicKey")) ?? [:] }

    var isCancellation: Bool {
        guard case .object(let header)? = header, case .string(let type)? = header["typ"] else { return false }
        return CompactJWS.MessageType(mediaType: type) == .cancellation
    }

    var issuer: IssuerURL? { (try? object.string("iss")).flatMap { try? IssuerURL($0) } }
    var audience: TokenID? {
        let one = (try? object.array("aud", count: 1...1))?.first ?? object["aud"]
        guard case .string(let text)? = one else { return nil }
        return TokenID(text)
    }
    var jti: String? { (try? object.string("jti")).flatMap(TokenID.init)?.text }
    var acsTransId: String? { (try? object.object("transaction")).flatMap { try? $0.string("acsTransId") } }
    var rpId: String? { try? options.string("rpId") }
    var requiresUserVerification: Bool { options["userVerification"] == "required" }

    var credentials: [[UInt8]] {
        let listed = (try? options.array("allowCredentials")) ?? []
        return listed.compactMap { each in
            guard case .object(let object) = each else { return nil }
            return try? object.base64url("id", bytes: 1...1_023)
        }
    }

    /// A time at which the message is neither early nor, if possible, expired.
    ///
    /// It is the message's `iat`, or the second before its `exp`.
    var timeInOrder: Int64 {
        let iat = try? object.integer("iat")
        guard let exp = try? object.integer("exp"), exp > .min else { return iat ?? 0 }
        return min(iat ?? exp - 1, exp - 1)
    }

    /// The decoded content; a part that cannot be decoded is `null`.
    var json: JSONObject { ["header": header ?? .null, "claims": claims ?? .null] }
}
