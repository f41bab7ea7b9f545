import Keys
import StrictJSON
import ThreeDS

/// Reader of an issuer's messages for one enrollment, which checks every rule in one pass.
package enum AuthnRequestReader {
    /// The maximum size of a message, in bytes.
    package static let maxBytes = 16_384
    /// The seconds that an `iat` may be ahead without a delay of the message: clocks differ.
    package static let clockTolerance: Int64 = 60
    /// The seconds that an `iat` may be ahead for the message to be deferred until its time.
    package static let longestHold: Int64 = 600

    /// Reads a message and returns the verdict.
    ///
    /// - Parameters:
    ///   - keys: the issuer's own. A key of another issuer never counts, even if its `kid` matches.
    ///   - now: seconds since 1970.
    package static func read(_ jws: String, for facts: EnrollmentFacts, keys: JWKSet, now: Int64) -> MessageVerdict {
        guard jws.utf8.count <= maxBytes else { return .unanswerable(.tooLarge) }
        do throws(AuthenticityError) {
            let message = try CompactJWS.parse(jws)
            guard let key = keys[message.kid] else {
                return .unknownKey(kid: message.kid, reason: keys.absence(of: message.kid))
            }
            try verify(message, with: key)
            guard let claims = Claims(payload: message.payload) else { return .unanswerable(.payload) }
            try checkParties(claims, facts)
            return try verdict(on: claims, of: message, by: key, for: facts, at: now)
        } catch {
            return .notAuthentic(error)
        }
    }

    private static func verify(_ message: CompactJWS, with key: PublicKey) throws(AuthenticityError) {
        do {
            guard try key.isValid(rawSignature: message.signature, over: message.signingInput) else {
                throw AuthenticityError.signature
            }
        } catch let error as AuthenticityError {
            throw error
        } catch {
            throw .cannotTell
        }
    }

    private static func checkParties(_ claims: Claims, _ facts: EnrollmentFacts) throws(AuthenticityError) {
        guard claims.unique("iss") == .string(facts.issuer.text) else { throw .iss }
        guard claims.audience == .string(facts.authenticatorId.text) else { throw .aud }
    }

    private static func verdict(
        on claims: Claims, of message: CompactJWS, by key: PublicKey, for facts: EnrollmentFacts, at now: Int64
    ) throws(AuthenticityError) -> MessageVerdict {
        guard let digest = try? SHA256Digest.of(message.payload) else { throw .cannotTell }
        do throws(UnanswerableError) {
            let jti = try claims.jti()
            switch message.type {
            case .cancellation:
                return .cancellation(try claims.cancellation(jti, digest))
            case .authnRequest:
                let rules = RequestRules(jti: jti, claims: claims, facts: facts)
                guard let verdict = rules.verdict() else { return .notAuthentic(.cannotTell) }
                return .request(
                    VerifiedRequest(
                        jti: jti, issuerKey: key, payloadDigest: digest, acsTransId: claims.acsTransId(),
                        iat: claims.time("iat"), exp: claims.time("exp"), traceparent: claims.traceparent(),
                        readAt: now, whileValid: verdict))
            }
        } catch {
            return .unanswerable(error)
        }
    }
}
