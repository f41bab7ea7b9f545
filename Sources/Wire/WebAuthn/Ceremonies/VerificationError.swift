/// Why a response does not hold.
package struct VerificationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Stable tokens, one for each thing that is checked.
    package enum Code: String, Sendable, CaseIterable {
        /// The client data is not of its form.
        case clientData
        case type
        case challenge
        case origin
        case crossOrigin
        case topOrigin
        // The members of a payment (W3C Secure Payment Confirmation).
        case paymentRpId
        case paymentTopOrigin
        case payeeName
        case payeeOrigin
        case total
        case instrument
        /// The authenticator data is not of its form.
        case authenticatorData
        case rpId
        case userPresence
        case userVerification
        case backupState
        case algorithm
        case attestation
        case credentialId
        case userHandle
        case signature
        case signCount
        /// Nothing was found wrong, but the check itself could not be done.
        case notChecked
    }

    package let code: Code
    /// What was expected; it never repeats what came.
    package let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { "\(code.rawValue): \(message)" }
}
