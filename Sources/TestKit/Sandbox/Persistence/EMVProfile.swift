import StrictJSON

/// The course of one authentication in EMV 3-D Secure: version, channel and content of its messages.
///
/// ``init(_:transaction:)`` verifies the values when it reads them. The members keep EMV's names.
struct EMVProfile: Codable, Equatable {
    /// messageVersion.
    enum Version: String, CaseIterable, Codable {
        case v210 = "2.1.0"
        case v220 = "2.2.0"
        case v231 = "2.3.1"
    }

    /// deviceChannel.
    enum Channel: String, CaseIterable, Codable {
        case app = "01"
        case browser = "02"
        case requestorInitiated = "03"
    }

    /// messageCategory.
    enum Category: String, CaseIterable, Codable {
        case payment = "01"
        case nonPayment = "02"
    }

    /// The behavior of the 3DS SDK, or of the browser, in the challenge.
    enum SDK: String, CaseIterable, Codable {
        /// Sends the first CReq, and another one when the cardholder comes back.
        case inOrder
        case noFirstCReq
        /// Sends no last CReq, because the cardholder does not come back to the merchant's app.
        case noReturn
    }

    /// Decoupled authentication: no challenge, and a result by RReq alone.
    struct Decoupled: Codable, Equatable {
        /// threeDSRequestorDecMaxTime, at most 7 days.
        let maxMinutes: Int64
        var seconds: Int64 { maxMinutes * 60 }

        static let range: ClosedRange<Int64> = 1...10_080
    }

    /// The link that opens the issuer's app on the same device.
    struct OOBApp: Codable, Equatable {
        let url: String
        let label: String?
    }

    var version = Version.v220
    /// Whether 2.2.0 carries elements of 2.3.1 in the Bridging message extension.
    var hasBridging = false
    var channel = Channel.app
    var category = Category.payment
    var decoupled: Decoupled?
    /// authenticationMethod, or `nil` to derive it from the request.
    var methods: [String]?
    /// whiteListStatus in 2.2.0, trustListStatus in 2.3.1.
    var trustListStatus: String?
    var deviceBindingStatus: String?
    var appURLInd: String?
    var oobApp: OOBApp?
    /// oobContinue of the last CReq: "01" the cardholder tapped, "02" automatic.
    var oobContinue: String?
    /// oobAppStatus "01": the issuer's app could not be opened.
    var oobAppFailed = false
    var sdk = SDK.inOrder

    /// Whether 2.3.1's elements for out-of-band challenges are in the message or in the extension.
    var hasOOBElements: Bool { version == .v231 || hasBridging }

    /// Seconds for which the ACS waits for the cardholder, unless the order sets them.
    ///
    /// An ACS gives an interaction 600 s, in app and browser alike. It gives the first CReq 30 s.
    var usualLifetime: Int64 {
        if let decoupled { return decoupled.seconds }
        return sdk == .noFirstCReq ? Self.firstCReqLimit : 600
    }

    static let firstCReqLimit: Int64 = 30
}
