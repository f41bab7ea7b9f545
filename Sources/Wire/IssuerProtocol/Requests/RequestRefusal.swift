package import ThreeDS

/// The agent's refusal of a request, sent so that the issuer can end the challenge at once.
package struct RequestRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// A rule for the message as a whole.
    ///
    /// The raw values are stable.
    package enum Rule: String, Sendable, CaseIterable {
        case expMissing, expNotInteger, iatMissing, iatNotInteger, expNotAfterIat, lifetimeTooLong
        case duplicateName
        /// A `jti` that a command would read as an option or as `next`.
        case jtiReserved
        case nonce
        /// It is missing, not an object, or not of WebAuthn's form.
        case publicKey
        case rpId
        case allowCredentials
        case paymentExtension
        /// The transaction is missing or not an object.
        case transactionMissing
        case commitment
        case userVerification
    }

    package enum Code: Hashable, Sendable {
        case rule(Rule)
        /// A rule for the transaction itself, or the policy for its exponent.
        case transaction(TransactionRefusal.Code)

        /// A stable word for scripts and logs, unique among the rules of both kinds.
        package var token: String {
            switch self {
            case .rule(let rule): rule.rawValue
            case .transaction(let code): code.rawValue
            }
        }
    }

    package let code: Code
    /// The fault as one line that is safe to print.
    package let message: String
    /// The reason that is sent to the issuer.
    package let reason: DenyReason

    package var token: String { code.token }

    package var description: String { "\(token): \(message)" }
}

extension RequestRefusal {
    static func invalid(_ rule: Rule, _ message: String) -> RequestRefusal {
        RequestRefusal(code: .rule(rule), message: message, reason: .invalidRequest)
    }

    static func transaction(_ refusal: TransactionRefusal) -> RequestRefusal {
        RequestRefusal(
            code: .transaction(refusal.code), message: refusal.message,
            reason: refusal.code.isPolicy ? .policy : .invalidRequest)
    }
}
