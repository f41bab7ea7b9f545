import StrictJSON
package import ThreeDS

/// The presented parts of an authn request, read again from the stored message.
///
/// The rules were checked when the message arrived (``AuthnRequestReader``). This type does not prove that the message
/// is authentic. An accepted message must remain readable as long as it is kept. So a rule that becomes stricter must
/// not change this type.
package struct KeptMessage: Sendable {
    /// 16 to 64 bytes.
    package let nonce: [UInt8]
    package let transaction: Transaction
    /// The payment extension, if the assertion must have the form `payment.get`.
    package let payment: PaymentExtension?

    /// Reads a stored message.
    ///
    /// Returns `nil` if no request with this message can have been presented.
    ///
    /// - Parameter jws: the compact JWS.
    package init?(_ jws: String) {
        guard let parts = JWSParts(jws), let claims = Claims(payload: parts.payload), claims.duplicateNames.isEmpty
        else { return nil }
        do {
            nonce = try RequestRules.nonce(claims)
            transaction = try RequestRules.transaction(RequestRules.transactionObject(claims))
            let options = try claims.object.optionalObject("publicKey")
            payment = try RequestedOptions.payment(in: options?.optionalObject("extensions"))
        } catch {
            return nil
        }
    }
}
