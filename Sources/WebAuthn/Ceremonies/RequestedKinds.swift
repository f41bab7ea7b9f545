/// How much the relying party wants the user verified (WebAuthn Level 3 §5.8.6); absent means preferred.
///
/// The standard has clients ignore an unknown value. Here it is refused, so that a stronger wish is never missed.
package enum UserVerificationRequirement: String, Sendable, CaseIterable {
    case required
    case preferred
    case discouraged
}

/// Which attestation the relying party wants (WebAuthn Level 3 §5.4.7); absent or unknown means none.
package enum AttestationConveyance: String, Sendable, CaseIterable {
    case none
    case indirect
    case direct
    case enterprise
}
