package import Keys
package import ThreeDS

/// What a message of an issuer turned out to be.
///
/// If several things are wrong with it, the first that fits.
package enum MessageVerdict: Sendable {
    /// Dropped and counted; nothing of it is kept.
    case notAuthentic(AuthenticityError)
    /// The header is in order but names a key that is not known (yet); `reason` is ``JWKSet/absence(of:)``.
    case unknownKey(kid: String, reason: String)
    /// Authentic or too large to look at, and there is nothing to answer to: dropped with a log line.
    case unanswerable(UnanswerableError)
    case request(VerifiedRequest)
    /// Well-formed; whether its `exp` is past or its `iat` ahead is for the reader of the store to see.
    case cancellation(Cancellation)
}

/// Why a message is not authentic; the raw values are stable.
package enum AuthenticityError: String, Error, Sendable, CaseIterable {
    /// Not three base64url parts with a strict JSON object as header.
    case notJWS
    /// A name appears twice in the header.
    case duplicateHeaderName
    /// Neither ES256 nor ESP256.
    case alg
    /// Not one of this protocol's message types.
    case typ
    /// A critical extension; none is understood.
    case crit
    /// No string of 1 to 256 bytes.
    case kid
    /// Not 64 bytes, or it does not hold.
    case signature
    /// Another issuer's, missing, or twice.
    case iss
    /// For another authenticator, missing, or twice.
    case aud
    /// The cryptography of this machine failed, so nothing is known about the message.
    case cannotTell

    /// A sentence of what is wrong and what is allowed, for a log line and for `check-request`.
    package var sentence: String {
        switch self {
        case .notJWS: "it is not three parts of base64url without padding, the first a JSON object"
        case .duplicateHeaderName: "a name is there twice in the header"
        case .alg: "alg is neither ES256 nor ESP256"
        case .typ: "typ is neither oob-authn-request+jwt nor oob-authn-cancel+jwt"
        case .crit: "crit is there"
        case .kid: "kid is missing, or no string of 1 to 256 bytes"
        case .signature: "the signature does not hold under the key of this kid"
        case .iss: "iss is missing, there twice, or not the issuer's URL"
        case .aud: "aud is missing, there twice, or not the authenticatorId alone"
        case .cannotTell: "the cryptography of this machine failed"
        }
    }
}

/// Why there is nothing to answer to; the raw values are stable.
package enum UnanswerableError: String, Error, Sendable, CaseIterable {
    /// More than 16 KiB; looked at before anything else, so nothing is known of its signature.
    case tooLarge
    /// The payload is no strict JSON object.
    case payload
    case jtiMissing
    case jtiTwice
    /// Not 1 to 64 of `A-Z a-z 0-9 _ -`.
    case jtiMalformed
    case malformedCancellation

    /// As ``AuthenticityError/sentence``.
    package var sentence: String {
        switch self {
        case .tooLarge: "it has more than \(AuthnRequestReader.maxBytes) bytes"
        case .payload: "the payload is no JSON object"
        case .jtiMissing: "jti is missing"
        case .jtiTwice: "jti is there twice"
        case .jtiMalformed: "jti is not 1 to 64 of A-Z a-z 0-9 _ -"
        case .malformedCancellation: "iat, exp or cancels is not of its form, or a name is there twice"
        }
    }
}

/// An authentic authn request with a `jti` that can be answered to, and what is to become of it.
package struct VerifiedRequest: Sendable {
    package let jti: TokenID
    /// The key of the issuer's that its signature holds under.
    package let issuerKey: PublicKey
    /// SHA-256 of the payload's bytes: the same `jti` with another digest is a conflict.
    package let payloadDigest: [UInt8]
    /// Nil if it could not be read.
    package let acsTransId: ACSTransactionID?
    /// Seconds since 1970, within `BoundedTime.range`; nil if it is missing, no integer, or there twice.
    package let iat: Int64?
    /// As `iat`.
    package let exp: Int64?
    /// W3C Trace Context, for the answer to a refused request too; nil if none came or it is malformed.
    package let traceparent: String?
    /// The time for which it was read, seconds since 1970.
    let readAt: Int64
    /// The verdict at a time at which it is valid: `.refused` or `.inOrder`.
    package let whileValid: RequestVerdict

    /// The verdict at the time for which it was read.
    package var verdict: RequestVerdict { verdict(at: readAt) }

    /// The verdict at another time, in seconds since 1970.
    ///
    /// A request is past its time from the second that `exp` names: RFC 7519 §4.1.4 has it processed before that only.
    package func verdict(at now: Int64) -> RequestVerdict {
        if let exp, exp <= now { return .expired }
        return switch iat.map({ Earliness(of: $0, at: now) }) {
        case .early(let seconds): .early(secondsAhead: seconds)
        case .tooEarly(let seconds): .tooEarly(secondsAhead: seconds)
        case .inTime, nil: whileValid
        }
    }
}

package enum RequestVerdict: Sendable {
    /// `exp` is past: never presented, never answered.
    case expired
    /// `iat` is ahead by more than 60 s and at most 600 s: to be held, and read again later.
    case early(secondsAhead: Int64)
    /// `iat` is ahead by more than 600 s: to be dropped with a warning about the clock.
    case tooEarly(secondsAhead: Int64)
    case refused(RequestRefusal)
    case inOrder(AuthnRequest)
}
