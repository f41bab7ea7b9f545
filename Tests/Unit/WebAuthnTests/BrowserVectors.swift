import Foundation
import Keys
import StrictJSON

@testable import WebAuthn

/// Payments that were confirmed in Chromium with its virtual authenticator, by one key.
struct BrowserVectors {
    static let currencies = ["EUR", "JPY"]
    static let challenge = [UInt8](repeating: 0x07, count: 32)
    static let origin = "http://localhost:18123"

    let publicKey: PublicKey
    let response: AuthenticationResponse

    static func file() throws -> JSONObject {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        let bytes = Array(try Data(contentsOf: tests.appending(path: "Fixtures/Vectors/spc-chromium.json")))
        return try JSONReader.object(bytes, limits: JSONLimits(maxBytes: 1_000_000))
    }

    init(_ currency: String) throws {
        let file = try Self.file()
        let vector = try file.object("vectors").object(currency)
        publicKey = try PublicKey(subjectPublicKeyInfo: file.base64url("spki_b64u", bytes: 91...91))
        response = AuthenticationResponse(
            credentialId: try vector.base64url("id", bytes: 1...64),
            clientDataJSON: Array(try vector.string("cd").utf8),
            authenticatorData: try vector.base64url("ad", bytes: 37...37),
            signature: try vector.base64url("sig", bytes: 1...80),
            userHandle: try vector.base64url("uh", bytes: 1...64))
    }

    /// What the page that asked gave to the browser; only the amount differs between the vectors.
    static func payment(_ currency: String) -> PaymentClientData {
        PaymentClientData(
            rpId: "localhost", topOrigin: origin, payeeName: "ACME & Co / Ltd",
            payeeOrigin: "https://merchant.example",
            total: PaymentClientData.Total(value: currency == "JPY" ? "1000" : "12.30", currency: currency),
            instrument: PaymentClientData.Instrument(
                icon: "http://localhost:18123/icon.png", displayName: #"Visa € "4242" 中"#))
    }
}
