import CCryptoki

/// What a PKCS #11 module answers (v2.40, "Function return values").
enum TokenAnswer {
    /// Why a call failed; `code` is nil where the module does not have the function.
    static func reason(_ function: String, _ code: CK_RV?) -> ExternalKeyError.Reason {
        switch code {
        case CKR_USER_NOT_LOGGED_IN: .needsPIN
        case CKR_PIN_INCORRECT, CKR_PIN_INVALID, CKR_PIN_LEN_RANGE: .wrongPIN(.notTold)
        case CKR_PIN_LOCKED: .pinLocked
        case CKR_PIN_EXPIRED: .notSetUp("the token's PIN has expired; set a new one with the token's own tools")
        case CKR_USER_PIN_NOT_INITIALIZED: .notSetUp("the token has no PIN yet; set one with the token's own tools")
        case CKR_TOKEN_NOT_PRESENT, CKR_TOKEN_NOT_RECOGNIZED, CKR_DEVICE_REMOVED, CKR_SLOT_ID_INVALID,
            CKR_SESSION_HANDLE_INVALID, CKR_SESSION_CLOSED:
            .absent("the token was taken out; put it back")
        case let code?: .failed("the token's \(function) answered 0x\(String(code, radix: 16))")
        case nil: .notSetUp("the PKCS #11 module has no \(function)")
        }
    }
}

extension SigningOrder {
    /// Throws unless the module answered CKR_OK.
    func check(_ function: String, _ code: CK_RV?) throws(ExternalKeyError) {
        guard code == CKR_OK else { throw failure(TokenAnswer.reason(function, code)) }
    }
}
