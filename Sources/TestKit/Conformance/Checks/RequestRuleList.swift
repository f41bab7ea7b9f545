/// The rules for a message of the issuer, in the order of `AuthnRequestReader`.
enum RequestRuleList {
    static let request = envelope + time + claims + transaction + options
    static let cancellation =
        envelope + [
            CheckedRule(
                "malformedCancellation", "iat, exp and cancels are of their form, and no name is there twice", "9")
        ] + time

    private static let envelope = [
        CheckedRule("tooLarge", "at most 16 KiB", "6"),
        CheckedRule("notJWS", "three parts of base64url, the first a JSON object", "6"),
        CheckedRule("duplicateHeaderName", "no name twice in the header", "6.1"),
        CheckedRule("alg", "alg is ES256 or ESP256", "6"),
        CheckedRule("typ", "typ is oob-authn-request+jwt (or oob-authn-cancel+jwt)", "6"),
        CheckedRule("crit", "no crit", "6"),
        CheckedRule("kid", "kid is a string of 1 to 256 bytes", "3"),
        CheckedRule("signatureLength", "the signature has 64 bytes", "6"),
        CheckedRule("unknownKey", "kid is of the issuer's JWK Set", "6"),
        CheckedRule("signature", "the signature is that key's", "6.1"),
        CheckedRule("payload", "the payload is a JSON object", "6.1"),
        CheckedRule("iss", "iss is the issuer's URL", "6"),
        CheckedRule("aud", "aud is the authenticatorId", "6"),
        CheckedRule("jti", "jti is 1 to 64 of A-Z a-z 0-9 _ -, once", "6"),
    ]

    private static let time = [
        CheckedRule("expired", "exp is not past", "6.1"),
        CheckedRule("ahead", "iat is at most 60 seconds ahead", "6.1"),
    ]

    private static let claims = [
        CheckedRule("exp", "exp is an integer, once", "6.1"),
        CheckedRule("iat", "iat is an integer, once", "6.1"),
        CheckedRule("lifetime", "exp is after iat, and at most 24 hours", "6.1"),
        CheckedRule("duplicateName", "no name twice", "6.1"),
        CheckedRule("jtiReserved", "jti is no word of a command line", "6"),
        CheckedRule("nonce", "nonce has 16 to 64 bytes", "6"),
    ]

    private static let transaction = [
        CheckedRule("transactionMissing", "transaction is an object", "6.2"),
        CheckedRule("nonStringValue", "every member of it is a string", "6.2"),
        CheckedRule("tooManyMembers", "at most 16 members", "6.2"),
        CheckedRule("memberName", "names of 1 to 64 A-Z a-z 0-9 _ . -", "6.2"),
        CheckedRule("memberTooLong", "other members of at most 1,024 characters", "6.2"),
        CheckedRule("membersTooLong", "other members of at most 4,096 characters together", "6.2"),
        CheckedRule("acsTransId", "acsTransId is a UUID", "6.2"),
        CheckedRule("merchantName", "merchantName has 1 to 40 characters", "6.2"),
        CheckedRule("purchaseIncomplete", "the four purchase members, or none", "6.2"),
        CheckedRule("purchaseAmount", "purchaseAmount is 1 to 48 digits", "6.2"),
        CheckedRule("purchaseCurrency", "purchaseCurrency is listed by ISO 4217", "6.2"),
        CheckedRule("purchaseExponent", "purchaseExponent is one digit", "6.2"),
        CheckedRule("purchaseDate", "purchaseDate is a real date", "6.2"),
        CheckedRule("threeDSRequestorAppURL", "threeDSRequestorAppURL is of its form", "6.2"),
    ]

    private static let options = [
        CheckedRule("publicKey", "publicKey is an object", "6"),
        CheckedRule("challenge", "publicKey.challenge has 32 bytes", "7"),
        CheckedRule("rpId", "publicKey.rpId is the enrolled one", "6.1"),
        CheckedRule("options", "publicKey is of WebAuthn's form", "6"),
        CheckedRule("allowCredentials", "allowCredentials is empty or names the credential", "6.1"),
        CheckedRule("paymentExtension", "the payment extension is of its form, if there is one", "8.2"),
        CheckedRule("commitment", "publicKey.challenge commits to nonce and transaction", "7"),
        CheckedRule("userVerification", "required only if the enrollment can verify its user", "6.1"),
        CheckedRule("exponent", "purchaseExponent is ISO 4217's for the currency", "6.3"),
    ]
}
