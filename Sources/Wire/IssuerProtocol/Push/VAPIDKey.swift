package import Keys
import TextAndTime

/// The key with which an issuer signs its pushes (RFC 8292 §3.2).
package struct VAPIDKey: Sendable, Equatable {
    /// An uncompressed point of P-256: 65 bytes.
    package let point: [UInt8]
    private let key: PublicKey

    package init(point: [UInt8]) throws(KeyError) {
        guard let material = PublicKeyMaterial(p256Point: point) else { throw .malformed(nil) }
        self.point = point
        key = try PublicKey(material)
    }

    /// Checks the value of an `Authorization` field against this key.
    ///
    /// - Parameters:
    ///   - field: the value. `nil` if the field is absent.
    ///   - now: seconds since 1970.
    func verify(_ field: String?, for endpoint: PushEndpoint, now: Int64) throws(VAPIDRefusal) {
        guard let field else { throw .vapidMissing }
        guard let authorization = AuthorizationParameters(field) else { throw .vapidMalformed }
        guard authorization.scheme.utf8.elementsEqual("vapid".utf8) else { throw .vapidMissing }
        guard let parameters = authorization.parameters(), let t = parameters["t"], let k = parameters["k"] else {
            throw .vapidMalformed
        }
        guard let sender = Base64URL.decode(k), ConstantTime.equal(sender, point) else { throw .vapidKey }
        let token = try VAPIDToken(t)
        try verify(token)
        try token.verify(origin: endpoint.origin, now: now)
    }

    private func verify(_ token: VAPIDToken) throws(VAPIDRefusal) {
        let holds: Bool
        do throws(OpenSSLError) {
            holds = try key.isValid(rawSignature: token.signature, over: token.signingInput)
        } catch {
            throw .vapidCannotTell
        }
        guard holds else { throw .vapidSignature }
    }
}

// For the issuer's side: the signing input, and the field with the signature.
extension VAPIDKey {
    /// Returns the bytes to sign.
    ///
    /// `exp` is in seconds since 1970, at most 24 hours ahead. `subject` is a `mailto:` or `https:` URI (RFC 8292
    /// §2.1).
    package static func signingInput(for endpoint: PushEndpoint, exp: Int64, subject: String? = nil) -> [UInt8] {
        VAPIDToken.signingInput(origin: endpoint.origin, exp: exp, subject: subject)
    }

    /// Returns the value of the `Authorization` field, with a signature of 64 bytes.
    package func authorization(signingInput: [UInt8], signature: [UInt8]) -> String {
        let token = JWSParts.compact(signingInput: signingInput, signature: signature)
        return "vapid t=\(token), k=\(Base64URL.encode(point))"
    }
}

/// The party that checks the VAPID of a push.
package enum VAPIDRule: Sendable, Equatable {
    /// This receiver checks it: the push must be signed with this key.
    case required(VAPIDKey)
    /// A push service in front has checked it.
    ///
    /// The receiver ignores the field.
    case upstream
}
