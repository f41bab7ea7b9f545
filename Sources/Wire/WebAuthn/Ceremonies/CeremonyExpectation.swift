import Keys

/// The values that a relying party expects in a response of either ceremony.
///
/// The checks exist only here. The verifiers say which of their numbered steps they are.
struct CeremonyExpectation {
    let type: String
    /// The members of the payment to confirm.
    var payment: PaymentClientData?
    let challenge: [UInt8]
    let origin: String
    let rpId: String
    let userVerificationRequired: Bool

    /// Checks the client data: WebAuthn Level 3 §7.1 steps 5 to 11, §7.2 steps 8 to 14.
    func checkClientData(_ bytes: [UInt8]) throws(VerificationError) {
        let data: CollectedClientData
        do { data = try CollectedClientData.parse(bytes) } catch {
            throw VerificationError(.clientData, "\(error)")
        }
        guard data.type.utf8.elementsEqual(type.utf8) else { throw VerificationError(.type, "type is not \(type)") }
        guard data.challenge == challenge else {
            throw VerificationError(.challenge, "challenge is not the one that was given out")
        }
        guard data.origin.utf8.elementsEqual(origin.utf8) else {
            throw VerificationError(.origin, "origin is not \(origin)")
        }
        // No ceremony of ours runs in a frame.
        guard !data.crossOrigin else { throw VerificationError(.crossOrigin, "crossOrigin is true") }
        guard data.topOrigin == nil else { throw VerificationError(.topOrigin, "topOrigin is present") }
        if let payment { try verify(data.payment, against: payment) }
    }

    /// Checks the payment: W3C Secure Payment Confirmation, "Verifying an Authentication Assertion".
    ///
    /// Each member is checked by itself, byte by byte. The whole is never compared with a template, because browsers
    /// add members of their own.
    private func verify(_ payment: PaymentClientData?, against expected: PaymentClientData) throws(VerificationError) {
        guard let payment else { throw VerificationError(.clientData, "clientDataJSON: /payment is missing") }
        try expect(payment.rpId, toBe: expected.rpId, code: .paymentRpId, name: "payment.rpId")
        try expect(payment.topOrigin, toBe: expected.topOrigin, code: .paymentTopOrigin, name: "payment.topOrigin")
        try expect(payment.payeeName, toBe: expected.payeeName, code: .payeeName, name: "payeeName")
        try expect(payment.payeeOrigin, toBe: expected.payeeOrigin, code: .payeeOrigin, name: "payeeOrigin")
        try expect(payment.total.value, toBe: expected.total.value, code: .total, name: "total.value")
        try expect(payment.total.currency, toBe: expected.total.currency, code: .total, name: "total.currency")
        let (instrument, expectedInstrument) = (payment.instrument, expected.instrument)
        try expect(instrument.icon, toBe: expectedInstrument.icon, code: .instrument, name: "instrument.icon")
        try expect(
            instrument.displayName, toBe: expectedInstrument.displayName, code: .instrument,
            name: "instrument.displayName")
    }

    private func expect(
        _ text: String?, toBe expected: String?, code: VerificationError.Code, name: String
    ) throws(VerificationError) {
        guard text.map({ Array($0.utf8) }) == expected.map({ Array($0.utf8) }) else {
            throw VerificationError(code, "\(name) is not what was to be confirmed")
        }
    }

    /// Checks the authenticator data: WebAuthn Level 3 §7.1 steps 14 to 17, §7.2 steps 15 to 18.
    func checkAuthenticatorData(_ data: AuthenticatorData) throws(VerificationError) {
        let rpIdHash: [UInt8]
        do { rpIdHash = try SHA256Digest.of(Array(rpId.utf8)) } catch { throw .notChecked(error) }
        guard data.rpIdHash == rpIdHash else {
            throw VerificationError(.rpId, "rpIdHash is not the SHA-256 of \(rpId)")
        }
        guard data.flags.contains(.userPresent) else { throw VerificationError(.userPresence, "UP is not set") }
        guard !userVerificationRequired || data.flags.contains(.userVerified) else {
            throw VerificationError(.userVerification, "UV is required and not set")
        }
        guard data.flags.contains(.backupEligible) || !data.flags.contains(.backupState) else {
            throw VerificationError(.backupState, "BS is set without BE")
        }
    }
}

extension PublicKey {
    /// Returns whether this key signed the authenticator data and the hash of the client data.
    func hasSigned(
        authenticatorData: [UInt8], clientDataJSON: [UInt8], signature: [UInt8]
    ) throws(VerificationError) -> Bool {
        do throws(OpenSSLError) {
            let signed = try SignedBytes.of(authenticatorData: authenticatorData, clientDataJSON: clientDataJSON)
            return try isValid(signature: signature, over: signed)
        } catch { throw .notChecked(error) }
    }
}

extension VerificationError {
    static func notChecked(_ error: OpenSSLError) -> VerificationError {
        VerificationError(.notChecked, "\(error)")
    }
}
