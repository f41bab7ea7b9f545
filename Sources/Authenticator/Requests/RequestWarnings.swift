import IssuerProtocol
package import ThreeDS

extension RequestRecord {
    /// All that whoever decides should be warned of.
    package func warnings(for enrollment: Enrollment) -> [Warning] {
        var warnings = presented?.warnings ?? []
        if hasConflict {
            warnings.insert(
                Warning(
                    id: "conflict", message: "another transaction came under the same acsTransId", severity: .high),
                at: 0)
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
