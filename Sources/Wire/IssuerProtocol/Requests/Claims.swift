import StrictJSON
import TextAndTime
import ThreeDS

/// The claims of a message whose signature was verified.
///
/// A name may be a duplicate: see ``duplicateNames``.
struct Claims {
    let object: JSONObject
    /// The JSON pointers to duplicate names: all of the root, and at most 16 of deeper levels.
    let duplicateNames: [String]

    /// Reads the claims.
    ///
    /// Returns `nil` if the payload is not a strict JSON object.
    init?(payload: [UInt8]) {
        let limits = JSONLimits(maxBytes: AuthnRequestReader.maxBytes)
        guard let document = try? JSONReader.document(payload, limits: limits), case .object(let object) = document.root
        else { return nil }
        self.object = object
        self.duplicateNames = document.duplicateNames
    }

    func standsTwice(_ name: String) -> Bool {
        duplicateNames.contains { $0.utf8.elementsEqual("/\(name)".utf8) }
    }

    /// Returns the claim's value.
    ///
    /// `nil` if it is absent or appears twice.
    func unique(_ name: String) -> JSONValue? {
        standsTwice(name) ? nil : object[name]
    }

    /// The audience (`aud`) if there is exactly one.
    ///
    /// `nil` if `aud` is absent, appears twice, or is an array of none or several.
    ///
    /// `aud` is an array. A string is short for an array of one (RFC 7519 §4.1.3).
    var audience: JSONValue? {
        guard case .array(let audiences)? = unique("aud") else { return unique("aud") }
        return audiences.count == 1 ? audiences.first : nil
    }

    /// Returns a time in seconds since 1970, clamped to `BoundedTime.range`.
    ///
    /// `nil` if it is absent, is not an integer of 64 bits, or appears twice.
    func time(_ name: String) -> Int64? {
        guard !standsTwice(name), let seconds = try? object.integer(name) else { return nil }
        return BoundedTime.nearest(seconds)
    }

    func jti() throws(UnanswerableError) -> TokenID {
        guard !standsTwice("jti") else { throw .jtiTwice }
        guard let value = object["jti"] else { throw .jtiMissing }
        guard case .string(let text) = value, let jti = TokenID(text) else { throw .jtiMalformed }
        return jti
    }

    /// Returns the acsTransId.
    ///
    /// `nil` if it is absent or malformed, or if any name in the message appears twice.
    func acsTransId() -> ACSTransactionID? {
        guard duplicateNames.isEmpty, case .object(let transaction)? = object["transaction"],
            case .string(let text)? = transaction["acsTransId"]
        else { return nil }
        return ACSTransactionID(text)
    }

    /// Returns the traceparent.
    ///
    /// `nil` if it is absent, appears twice, is malformed, or has another version (W3C Trace Context §3.2.2, §3.2.4).
    func traceparent() -> String? {
        guard case .string(let text)? = unique("traceparent") else { return nil }
        return Traceparent(text)?.text
    }

    func cancellation(_ jti: TokenID, _ digest: [UInt8]) throws(UnanswerableError) -> Cancellation {
        guard duplicateNames.isEmpty, let times = try? Lifetime(self), case .string(let text)? = object["cancels"],
            let cancels = TokenID(text)
        else { throw .malformedCancellation }
        return Cancellation(
            jti: jti, iat: times.iat, exp: times.exp, cancels: cancels, payloadDigest: digest)
    }
}

/// The claims `iat` and `exp` (RFC 7519 §4.1): the validity period that the issuer gives its message.
struct Lifetime {
    /// The maximum seconds from `iat` to `exp`: a day.
    static let longest: Int64 = 86_400

    let iat: Int64
    let exp: Int64

    init(_ claims: Claims) throws(RequestRefusal) {
        exp = try Self.requiredTime("exp", claims, missing: .expMissing, notInteger: .expNotInteger)
        iat = try Self.requiredTime("iat", claims, missing: .iatMissing, notInteger: .iatNotInteger)
        guard exp > iat else { throw .invalid(.expNotAfterIat, "exp must be after iat") }
        guard exp.seconds(since: iat) <= Self.longest else {
            throw .invalid(.lifetimeTooLong, "exp must be at most 24 hours after iat")
        }
    }

    private static func requiredTime(
        _ name: String, _ claims: Claims, missing: RequestRefusal.Rule, notInteger: RequestRefusal.Rule
    ) throws(RequestRefusal) -> Int64 {
        guard !claims.standsTwice(name) else { throw .duplicateName("/\(name)") }
        guard claims.object[name] != nil else { throw .invalid(missing, "\(name) is missing") }
        guard let time = claims.time(name) else { throw .invalid(notInteger, "\(name) must be an integer") }
        return time
    }
}

extension RequestRefusal {
    static func duplicateName(_ pointer: String) -> RequestRefusal {
        .invalid(.duplicateName, "\(EscapedText.of(pointer)) appears more than once")
    }
}
