import FoundationEssentials
package import IssuerProtocol
package import Keys
import StrictJSON
import TextAndTime
package import WebAuthn

/// An error in the user's input: one line that is safe to print.
package struct GivenError: Error, Sendable, CustomStringConvertible {
    package enum Kind: Sendable {
        /// An error in the value of an option.
        case usage
        /// An error in the content of a file.
        case data
    }

    package let kind: Kind
    package let description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}

/// Readers of the user's texts and files, for the checks.
package enum Given {
    /// The limit of a file with keys, in bytes.
    package static let maxKeysBytes = 1_048_576

    /// Reads the message in a file: one line of printable ASCII, with optional white space around it.
    package static func jws(_ bytes: [UInt8]) throws(GivenError) -> String {
        let trimmed = trimmed(bytes)
        guard !trimmed.isEmpty else { throw GivenError(.data, "is empty; a compact JWS is expected") }
        guard let wrong = trimmed.firstIndex(where: { !(0x21...0x7E).contains($0) }) else {
            return String(decoding: trimmed, as: UTF8.self)
        }
        throw GivenError(.data, "holds no compact JWS: byte \(wrong) is no printable ASCII")
    }

    /// Reads an assertion, by itself or in a decision.
    package static func assertion(_ bytes: [UInt8]) throws(GivenError) -> AuthenticationResponse {
        do {
            let limits = JSONLimits(maxBytes: AssertionCheck.maxFileBytes)
            let object = try JSONReader.object(bytes, limits: limits)
            guard object["decision"] != nil else { return try AuthenticationResponse(json: object) }
            switch try DecisionMessage(bytes: bytes) {
            case .approve(let response): return response
            case .deny(let reason): throw GivenError(.data, "denies (\(reason.rawValue)), so it has no assertion")
            }
        } catch let error as GivenError {
            throw error
        } catch {
            throw GivenError(.data, "holds no assertion: \(error)")
        }
    }

    package static func keys(_ bytes: [UInt8]) throws(GivenError) -> JWKSet {
        do { return try JWKSet(json: bytes) } catch { throw GivenError(.data, "holds no JWK Set: \(error)") }
    }

    /// Reads a public key: PEM, a JSON Web Key, or SubjectPublicKeyInfo in base64url.
    package static func publicKey(_ bytes: [UInt8]) throws(GivenError) -> PublicKey {
        let text = trimmed(bytes)
        do {
            if text.first == UInt8(ascii: "{") { return try jwk(text) }
            return try PublicKey(subjectPublicKeyInfo: try subjectPublicKeyInfo(String(decoding: text, as: UTF8.self)))
        } catch let error as GivenError {
            throw error
        } catch {
            throw GivenError(.data, "holds no public key for ES256, ES384 or EdDSA: \(error)")
        }
    }

    private static func jwk(_ bytes: [UInt8]) throws -> PublicKey {
        let jwk = try JSONReader.object(bytes, limits: JSONLimits(maxBytes: 65_536))
        guard jwk["d"] == nil else { throw GivenError(.data, "holds a private key; give the public one only") }
        switch (jwk["kty"], jwk["crv"]) {
        case ("EC", "P-256"):
            return try PublicKey(.p256(x: jwk.base64url("x", bytes: 32...32), y: jwk.base64url("y", bytes: 32...32)))
        case ("EC", "P-384"):
            return try PublicKey(.p384(x: jwk.base64url("x", bytes: 48...48), y: jwk.base64url("y", bytes: 48...48)))
        case ("OKP", "Ed25519"): return try PublicKey(.ed25519(jwk.base64url("x", bytes: 32...32)))
        default: throw GivenError(.data, "holds a JSON Web Key that is none of P-256, P-384 and Ed25519")
        }
    }

    private static func subjectPublicKeyInfo(_ text: String) throws(GivenError) -> [UInt8] {
        let expected = GivenError(.data, "holds no public key: PEM, a JSON Web Key or base64url is expected")
        guard text.hasPrefix("-----BEGIN ") else {
            guard let bytes = Base64URL.decode(text) else { throw expected }
            return bytes
        }
        guard !text.contains("PRIVATE KEY") else {
            throw GivenError(.data, "holds a private key; give the public one only")
        }
        let lines = text.split(whereSeparator: \.isNewline)
        guard lines.first == "-----BEGIN PUBLIC KEY-----", lines.last == "-----END PUBLIC KEY-----",
            let bytes = Data(base64Encoded: lines.dropFirst().dropLast().joined())
        else { throw expected }
        return [UInt8](bytes)
    }

    private static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        let isSpace: (UInt8) -> Bool = { " \t\r\n".utf8.contains($0) }
        return bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
    }
}
