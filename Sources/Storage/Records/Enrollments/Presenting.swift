import IssuerProtocol
import Keys
package import TextAndTime
package import ThreeDS

extension RequestRecord {
    /// Returns the text that is shown for the request, or `nil` if it has none.
    package func text(for enrollment: Enrollment, _ localTime: LocalTime) -> TransactionText? {
        guard let presented else { return nil }
        return TransactionText(
            transaction: presented.transaction, issuer: enrollment.target.issuer.text, enrollment: enrollment.name,
            expiresAt: exp ?? 0, payeeOrigin: presented.payment?.payeeOrigin,
            instrument: presented.payment?.displayName, icon: presented.payment?.shownIcon,
            warnings: warnings(for: enrollment), localTime: localTime)
    }
}

extension TransactionText {
    /// SHA-256 of the text's bytes, base64url; a client that has shown the text sends it with the decision.
    package var digest: String {
        get throws { Base64URL.encode(try SHA256Digest.of(Array(text.utf8))) }
    }
}

extension RequestRecord {
    /// Returns all warnings for the person or program that decides.
    package func warnings(for enrollment: Enrollment) -> [Warning] {
        var warnings = presented?.warnings ?? []
        if hasConflict {
            warnings.insert(
                Warning(
                    id: "conflict", message: "another transaction came under the same acsTransId", severity: .high),
                at: 0)
        }
        if isDamaged {
            warnings.append(
                Warning(
                    id: "damaged", message: "it is not in the database as the agent wrote it, and cannot be decided",
                    severity: .high))
        }
        if enrollment.authnType == .test {
            warnings.append(
                Warning(
                    id: "testAuthenticator", message: "a test authenticator: user verification is claimed, not done",
                    severity: .medium))
        }
        return warnings
    }
}
