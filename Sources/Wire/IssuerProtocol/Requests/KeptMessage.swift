import StrictJSON
package import ThreeDS

/// The presented parts of an authn request, read again from the message as it was kept.
///
/// The rules were checked when it came (``AuthnRequestReader``); nothing here says that it is authentic. What was
/// accepted once has to be read for as long as it is kept: a rule that becomes stricter must leave this as it is.
package struct KeptMessage: Sendable {
    /// 16 to 64 bytes.
    package let nonce: [UInt8]
    package let transaction: Transaction
    /// The payment extension, if the assertion is to have the form `payment.get`.
    package let payment: PaymentExtension?

    /// `nil` if no request with this message can have been presented.
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
