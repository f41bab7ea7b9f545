package import Keys
package import ThreeDS

/// The verdict on a message of an issuer.
///
/// If a message has several faults, the verdict is the first case that applies.
package enum MessageVerdict: Sendable {
    /// Not authentic.
    ///
    /// It is dropped and counted, and no part of it is kept.
    case notAuthentic(AuthenticityError)
    /// The header is valid, but its key is not known (yet).
    ///
    /// `reason` is ``JWKSet/absence(of:)``.
    case unknownKey(kid: String, reason: String)
    /// Authentic, or too large to read, and without anything to answer to.
    ///
    /// It is dropped with a log line.
    case unanswerable(UnanswerableError)
    case request(VerifiedRequest)
    /// A well-formed cancellation.
    ///
    /// The reader of the store checks whether its `exp` has passed or its `iat` is ahead.
    case cancellation(Cancellation)
}

/// The reason why a message is not authentic.
///
/// The raw values are stable.
package enum AuthenticityError: String, Error, Sendable, CaseIterable {
    /// It is not three base64url parts with a strict JSON object as header.
    case notJWS
    /// A name appears twice in the header.
    case duplicateHeaderName
    /// The `alg` is neither ES256 nor ESP256.
    case alg
    /// The `typ` is not a message type of this protocol.
    case typ
    /// A critical extension is present.
    ///
    /// This code supports none.
    case crit
    /// The `kid` is not a string of 1 to 256 bytes.
    case kid
    /// The signature is not 64 bytes long, or does not verify.
    case signature
    /// The `iss` names another issuer, is missing, or appears twice.
    case iss
    /// The `aud` names another authenticator, is missing, or appears twice.
    case aud
    /// The cryptography of this machine failed, so the message was not checked.
    case cannotTell

    /// A sentence with the fault and the allowed form, for a log line and for `check-request`.
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

/// The reason why a message cannot be answered.
///
/// The raw values are stable.
package enum UnanswerableError: String, Error, Sendable, CaseIterable {
    /// More than 16 KiB.
    ///
    /// This is checked first, so the signature was not verified.
    case tooLarge
    /// The payload is not a strict JSON object.
    case payload
    case jtiMissing
    case jtiTwice
    /// The `jti` is not 1 to 64 of `A-Z a-z 0-9 _ -`.
    case jtiMalformed
    case malformedCancellation

    /// A sentence like ``AuthenticityError/sentence``.
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

/// An authentic authn request with a usable `jti`, and the verdict on it.
package struct VerifiedRequest: Sendable {
    package let jti: TokenID
    /// The issuer's key that verified its signature.
    package let issuerKey: PublicKey
    /// SHA-256 of the payload's bytes.
    ///
    /// The same `jti` with another digest is a conflict.
    package let payloadDigest: [UInt8]
    /// The ACS's transaction id.
    ///
    /// `nil` if it could not be read.
    package let acsTransId: ACSTransactionID?
    /// Seconds since 1970, within `BoundedTime.range`.
    ///
    /// `nil` if it is missing, not an integer, or appears twice.
    package let iat: Int64?
    /// Seconds since 1970, with the same range and `nil` as `iat`.
    package let exp: Int64?
    /// W3C Trace Context, also for the answer to a refused request.
    ///
    /// `nil` if it is absent or malformed.
    package let traceparent: String?
    /// The time of the reading, in seconds since 1970.
    let readAt: Int64
    /// The verdict while the request is valid: `.refused` or `.inOrder`.
    package let whileValid: RequestVerdict

    /// The verdict at the time of the reading.
    package var verdict: RequestVerdict { verdict(at: readAt) }

    /// Returns the verdict at another time, in seconds since 1970.
    ///
    /// A request is expired from the second that `exp` names: RFC 7519 §4.1.4 allows its processing only before that.
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
    /// `exp` has passed: never presented, never answered.
    case expired
    /// `iat` is ahead by more than 60 s and at most 600 s: defer the message, and read it again later.
    case early(secondsAhead: Int64)
    /// `iat` is ahead by more than 600 s: drop the message with a warning about the clock.
    case tooEarly(secondsAhead: Int64)
    case refused(RequestRefusal)
    case inOrder(AuthnRequest)
}
