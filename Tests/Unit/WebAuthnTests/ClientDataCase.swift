@testable import WebAuthn

/// One member of the client data changed, and the failure that it has to be in both ceremonies.
struct ClientDataCase: Sendable {
    let code: VerificationError.Code
    let change: @Sendable (inout SampleClientData) -> Void

    static let all: [ClientDataCase] = [
        ClientDataCase(code: .type) { $0.type = "payment.get" },
        ClientDataCase(code: .type) { $0.type = $0.type == "webauthn.get" ? "webauthn.create" : "webauthn.get" },
        ClientDataCase(code: .challenge) { $0.challenge = $0.challenge.flipping(31) },
        ClientDataCase(code: .challenge) { $0.challenge = $0.challenge.dropLast() },
        ClientDataCase(code: .origin) { $0.origin = "https://issuer.example:8443" },
        ClientDataCase(code: .origin) { $0.origin = "https://Issuer.example" },
        ClientDataCase(code: .crossOrigin) { $0.rest = #","crossOrigin":true"# },
        ClientDataCase(code: .topOrigin) { $0.rest = #","topOrigin":"https://issuer.example""# },
        ClientDataCase(code: .clientData) { $0.rest = #","origin":"https://issuer.example""# },
    ]
}

/// One thing of the authenticator data changed, and the failure that it has to be in both ceremonies.
struct FlagsCase: Sendable {
    let code: VerificationError.Code
    let flags: AuthenticatorFlags

    static let all: [FlagsCase] = [
        FlagsCase(code: .userPresence, flags: [.userVerified]),
        FlagsCase(code: .userVerification, flags: [.userPresent]),
        FlagsCase(code: .backupState, flags: [.userPresent, .userVerified, .backupState]),
    ]
}
