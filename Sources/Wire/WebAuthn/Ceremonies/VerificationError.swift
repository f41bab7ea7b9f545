/// A failed check of a response.
package struct VerificationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The stable token of a check.
    package enum Code: String, Sendable, CaseIterable {
        /// The client data is malformed.
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
        /// The authenticator data is malformed.
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
        /// The check itself could not be done.
        ///
        /// No fault was found.
        case notChecked
    }

    package let code: Code
    /// The expected value.
    ///
    /// The message never repeats the received value.
    package let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { "\(code.rawValue): \(message)" }
}
