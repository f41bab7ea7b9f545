import WebAuthn

/// The rules for an assertion, in the order of `AssertionVerifier`.
enum AssertionRuleList {
    static func rules(ofPayment isPayment: Bool) -> [CheckedRule] {
        AssertionVerifier.checks(ofPayment: isPayment).map { check in
            CheckedRule(check.rawValue, check.title, check.section(ofPayment: isPayment))
        }
    }
}

extension VerificationError.Code {
    fileprivate var title: String {
        switch self {
        case .credentialId: "the credential is the enrolled one"
        case .userHandle: "userHandle is the user.id of the enrollment, if it is there"
        case .clientData: "clientDataJSON is of its form"
        case .type: "type is the one that was asked for"
        case .challenge: "challenge is the request's"
        case .origin: "origin is the issuer's"
        case .crossOrigin: "crossOrigin is not true"
        case .topOrigin: "no topOrigin"
        case .paymentRpId: "payment.rpId is the enrolled one"
        case .paymentTopOrigin: "payment.topOrigin is the issuer's origin"
        case .payeeName: "payment.payeeName is merchantName"
        case .payeeOrigin: "payment.payeeOrigin is the request's"
        case .total: "payment.total is the amount in major units, and its currency"
        case .instrument: "payment.instrument is the request's"
        case .authenticatorData: "authenticatorData is of its form: rpIdHash, flags and signCount"
        case .rpId: "rpIdHash is the SHA-256 of rp.id"
        case .userPresence: "UP is set"
        case .userVerification: "UV is set, if the request requires it"
        case .backupState: "BS is not set without BE"
        case .signature: "the signature is the enrolled key's"
        case .signCount: "signCount is greater than any before it"
        case .algorithm, .attestation, .notChecked: rawValue
        }
    }

    /// Returns the section of the protocol page.
    fileprivate func section(ofPayment isPayment: Bool) -> String {
        switch self {
        case .paymentRpId, .paymentTopOrigin, .payeeName, .payeeOrigin, .total, .instrument: "8.2"
        case .clientData, .type, .challenge, .origin, .crossOrigin, .topOrigin: isPayment ? "8.2" : "8.1"
        default: "8"
        }
    }
}
