/// What requests have in common, so that none has to say it again: what zlib looks for repetitions in, the likeliest last.
///
/// What was packed under it can be read under it alone, byte for byte: it never changes.
enum PastRequestDictionary {
    static let bytes = Array(text.utf8)

    private static let text =
        warnings + labels + payment + denial + response + claims

    private static let warnings = """
        [{"id":"exponentMismatch","message":"","severity":"high"},{"id":"mixedScripts","message":"","severity":"medium"}]\
        {"id":"exponentUndefined"{"id":"fundCode"another transaction came under the same acsTransId"low"}]traceparent":"00-
        """

    private static let labels = """
        \nPayee:      https://\nInstrument: \nIcon:       \nWarning:    \nMember shopperEmail: \n\
        none (not a payment)(check the decimals: \(" has ")a fund code)
        """

    private static let payment = """
        "extensions":{"payment":{"isPayment":true,"payeeOrigin":"https://","instrument":{"displayName":"","icon":"https://"}}}\
        {"type":"payment.get","challenge":"","payment":{"rpId":"","topOrigin":"https://","payeeOrigin":"https://",\
        "total":{"value":"0.00","currency":"EUR"},"instrument":{"icon":"https://","displayName":"
        """

    private static let denial = """
        {"decision":"deny","reason":"userDenied"}suspectedFraud"invalidRequest"
        """

    private static let response = """
        Amount:     EUR 10.00
        Amount:     USD 1.00
        Merchant:   \nDate:       2026-01-01 00:00:00 UTC (+00:00)
        Issuer:     https://\nEnrollment: \nExpires:    2026-12-31 12:34:56 UTC (+00:00)
        Return URL: https://\nacsTransId: \
        {"decision":"approve","credential":{"id":"","rawId":"","response":{"clientDataJSON":"\
        {"type":"webauthn.get","challenge":"","origin":"https://","crossOrigin":false}\
        ","authenticatorData":"","signature":"","userHandle":""},"authenticatorAttachment":"platform",\
        "clientExtensionResults":{},"type":"public-key"}}
        """

    private static let claims = """
        {"alg":"ES256","kid":"","typ":"oob-authn-request+jwt"}\
        {"iss":"https://","aud":"","jti":"","iat":17,"exp":17,"nonce":"","traceparent":"00-","transaction":\
        {"acsTransId":"","merchantName":"","purchaseAmount":"100","purchaseCurrency":"978","purchaseExponent":"2",\
        "purchaseCurrency":"840","purchaseExponent":"2","purchaseDate":"2026","threeDSRequestorAppURL":"https://"},\
        "publicKey":{"challenge":"","timeout":300000,"rpId":"","allowCredentials":[{"type":"public-key","id":""}],\
        "userVerification":"required"},"userVerification":"discouraged"},"userVerification":"preferred"}}
        """
}
