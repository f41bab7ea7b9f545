import IssuerProtocol
package import ThreeDS

extension Enrollment {
    /// What is weak about this enrollment, or has gone wrong with it.
    package var warnings: [Warning] {
        var warnings: [Warning] = []
        if authnType == .test {
            warnings.append(
                Warning(
                    id: "testAuthenticator", message: "enrollment \(id) is a test authenticator", severity: .medium))
        }
        if let raise = signCountRaise { warnings.append(warning(of: raise)) }
        return warnings
    }
}

extension Enrollment {
    private func warning(of raise: SignCountRaise) -> Warning {
        let what =
            "at \(UTCTime.text(raise.at)) the issuer of enrollment \(id) had accepted signCount \(raise.to), above the "
            + "\(raise.from) known here: "
        guard raise.isElsewhere else {
            return Warning(
                id: "signCountRaised", message: what + "this state was an old copy, or someone else has the key",
                severity: .high)
        }
        return Warning(
            id: "signedElsewhere",
            message: what + "someone else signs with this key, such as a second agent on a copy of this state: stop "
                + "that one; where there is none, unenroll and enroll anew", severity: .high)
    }
}

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
