import StrictJSON
import WebAuthn

/// Builds the messages of one authentication, each with the elements that matter to an out-of-band challenge.
///
/// The elements of a version and channel are those of a public field reference (docs/reference/emv-outcomes.md).
/// Elements that come from a card scheme or a certificate are left out: authenticationValue, eci, reference numbers,
/// acsURL and acsSignedContent.
struct EMVMessages: Sendable {
    let purchase: PurchaseRecord
    var profile: EMVProfile { purchase.emv }

    /// Builds a message with the elements that all messages of one authentication share.
    func message(_ type: String, _ members: JSONObject) -> JSONValue {
        var message: JSONObject = [
            "messageType": .string(type), "messageVersion": .string(profile.version.rawValue),
            "threeDSServerTransID": .string(purchase.threeDSServerTransID),
        ]
        // The RReq has sdkTransID from 2.2.0 on.
        if profile.channel == .app, profile.version != .v210 || type != "RReq" {
            message["sdkTransID"] = .string(purchase.sdkTransID)
        }
        for member in members.members { message[member.name] = member.value }
        return .object(message)
    }

    private var acsTransID: JSONValue { .string(purchase.acsTransID) }
    private var dsTransID: JSONValue { .string(purchase.dsTransID) }
    private var category: JSONValue { .string(profile.category.rawValue) }

    var areq: JSONValue {
        var members: JSONObject = ["deviceChannel": .string(profile.channel.rawValue), "messageCategory": category]
        for name in ["merchantName", "purchaseAmount", "purchaseCurrency", "purchaseExponent", "purchaseDate"] {
            members[name] = purchase.member(name).map(JSONValue.string)
        }
        // 11: other payment. 05: account verification.
        if profile.channel == .requestorInitiated {
            members["threeRIInd"] = profile.category == .payment ? "11" : "05"
        }
        if let decoupled = profile.decoupled {
            members["threeDSRequestorDecReqInd"] = "Y"
            members["threeDSRequestorDecMaxTime"] = .string(Self.digits(decoupled.maxMinutes, 5))
        }
        return message("AReq", members)
    }

    var ares: JSONValue {
        let isDecoupled = profile.decoupled != nil
        var members: JSONObject = [
            "acsTransID": acsTransID, "dsTransID": dsTransID, "transStatus": isDecoupled ? "D" : "C",
            "acsChallengeMandated": "Y",
        ]
        if isDecoupled {
            members["acsDecConInd"] = "Y"
            let text: JSONValue = "Approve or deny in the authenticator."
            members["cardholderInfo"] = profile.version == .v231 ? ["text": text] : text
        }
        addMethod(to: &members)
        if !isDecoupled, profile.channel == .app { members["acsRenderingType"] = rendering }
        // Y is the default, because the agent returns to the URL.
        if profile.version == .v231, profile.channel == .app {
            members["threeDSRequestorAppURLInd"] = .string(profile.appURLInd ?? "Y")
        }
        addStatuses(to: &members)
        return message("ARes", members)
    }

    // The native interface with template 04: out of band. The ARes announces it; the RReq reports that it was used.
    private var rendering: JSONValue {
        profile.version == .v231
            // 01: portrait.
            ? ["acsInterface": "01", "acsUiTemplate": "04", "deviceUserInterfaceMode": "01"]
            : ["acsInterface": "01", "acsUiTemplate": "04"]
    }

    /// Adds the ACS's method: one value up to 2.2.0, an array in 2.3.1 and in the Bridging extension.
    private func addMethod(to members: inout JSONObject) {
        let methods = JSONValue.array(authenticationMethods.map(JSONValue.string))
        guard profile.version != .v231 else {
            members["authenticationMethod"] = methods
            return
        }
        // 03: out of band. 04: decoupled.
        members["authenticationType"] = profile.decoupled == nil ? "03" : "04"
        guard profile.hasBridging else { return }
        members["messageExtension"] = Self.bridging(["version": "2.0", "addData": ["authenticationMethod": methods]])
    }

    // 08: out of band with a login; a PIN counts as one. 09: out of band otherwise. 12: decoupled.
    private var authenticationMethods: [String] {
        if let methods = profile.methods { return methods }
        return [purchase.userVerification == .required ? "08" : "09"] + (profile.decoupled == nil ? [] : ["12"])
    }

    private func addStatuses(to members: inout JSONObject) {
        // 03: the ACS is the source.
        if let status = profile.trustListStatus {
            let name = profile.version == .v231 ? "trustListStatus" : "whiteListStatus"
            members[name] = .string(status)
            members[name + "Source"] = "03"
        }
        if let status = profile.deviceBindingStatus {
            members["deviceBindingStatus"] = .string(status)
            members["deviceBindingStatusSource"] = "03"
        }
    }

    func creq(_ counter: Int, _ members: JSONObject = [:]) -> JSONValue {
        var creq: JSONObject = ["acsTransID": acsTransID]
        switch profile.channel {
        case .app: creq["sdkCounterStoA"] = .string(Self.digits(Int64(counter), 3))
        // 05: full screen.
        case .browser, .requestorInitiated: creq["challengeWindowSize"] = "05"
        }
        for member in members.members { creq[member.name] = member.value }
        return message("CReq", creq)
    }

    var firstCReq: JSONValue {
        var members: JSONObject = [:]
        members["threeDSRequestorAppURL"] = purchase.member("threeDSRequestorAppURL").map(JSONValue.string)
        guard profile.channel == .app, profile.oobApp != nil || profile.hasBridging else { return creq(0, members) }
        // 01: the SDK can open the URL of an issuer's app.
        if profile.version == .v231 { members["oobAppURLInd"] = "01" }
        if profile.hasBridging { members["messageExtension"] = Self.challengeData(["oobAppURLInd": "01"]) }
        return creq(0, members)
    }

    /// Builds the CReq of a cardholder who is back in the merchant's app, by a tap ("01") or automatically ("02").
    func returningCReq(_ counter: Int, oobContinue: String) -> JSONValue {
        if profile.version == .v231 { return creq(counter, ["oobContinue": .string(oobContinue)]) }
        var members: JSONObject = [:]
        // Boolean, and only for a tap: up to 2.2.0, an SDK that comes back automatically sends a CReq without it.
        if oobContinue == "01" { members["oobContinue"] = true }
        if profile.hasBridging, oobContinue == "02" {
            members["messageExtension"] = Self.challengeData(["oobAppURLInd": "01", "oobContinue": "02"])
        }
        return creq(counter, members)
    }

    /// Builds the CReq after the issuer's app could not be opened (2.3.1).
    func failedOpeningCReq(_ counter: Int) -> JSONValue { creq(counter, ["oobAppStatus": "01"]) }

    /// Builds the CRes without a result: the instructions to go to the issuer's app.
    func instructions(_ counter: Int) -> JSONValue {
        var members: JSONObject = [
            "acsTransID": acsTransID, "acsCounterAtoS": .string(Self.digits(Int64(counter), 3)), "acsUiType": "04",
            "challengeCompletionInd": "N", "challengeInfoHeader": "Approve the payment",
            "challengeInfoText": "Approve or deny in the authenticator, then continue here.",
            "oobContinueLabel": "Continue",
        ]
        if let app = profile.oobApp {
            var opening: JSONObject = ["oobAppURL": .string(app.url)]
            opening["oobAppLabel"] = app.label.map(JSONValue.string)
            if profile.version == .v231 {
                for member in opening.members { members[member.name] = member.value }
            } else {
                members["messageExtension"] = Self.challengeData(opening)
            }
        }
        return message("CRes", members)
    }

    func finalCRes(_ counter: Int, transStatus: String) -> JSONValue {
        var members: JSONObject = ["acsTransID": acsTransID]
        if profile.channel == .app {
            members["acsCounterAtoS"] = .string(Self.digits(Int64(counter), 3))
            members["challengeCompletionInd"] = "Y"
        }
        members["transStatus"] = .string(transStatus)
        return message("CRes", members)
    }

    func rreq(_ outcome: EMVOutcome) -> JSONValue {
        var members: JSONObject = [
            "acsTransID": acsTransID, "dsTransID": dsTransID, "messageCategory": category,
            "transStatus": .string(outcome.transStatus),
        ]
        // Required for Y and N.
        if outcome.transStatus != "U" { addMethod(to: &members) }
        if profile.channel == .app, profile.decoupled == nil { members["acsRenderingType"] = rendering }
        members["interactionCounter"] = outcome.interactionCounter.map(JSONValue.string)
        members["transStatusReason"] = outcome.transStatusReason.map(JSONValue.string)
        members["challengeCancel"] = outcome.challengeCancel.map(JSONValue.string)
        if outcome.challengeCancel == "10" { members["challengeErrorReporting"] = erro(EMVErro.invalidCReq) }
        addStatuses(to: &members)
        return message("RReq", members)
    }

    /// The RRes with 01: the 3DS Server has received the results and will use them.
    var rres: JSONValue {
        message("RRes", ["acsTransID": acsTransID, "dsTransID": dsTransID, "resultsStatus": "01"])
    }

    func erro(_ members: JSONObject) -> JSONValue {
        var erro = members
        erro["acsTransID"] = acsTransID
        return message("Erro", erro)
    }

    private static func challengeData(_ members: JSONObject) -> JSONValue {
        bridging(["challengeData": .object(members)], version: "1.0")
    }

    /// Builds the Bridging message extension, which carries elements of 2.3.1 in a message of 2.2.0.
    private static func bridging(_ data: JSONObject, version: String? = nil) -> JSONValue {
        var json: JSONObject = [
            "name": "Bridging", "id": "A000000802-004", "criticalityIndicator": false, "data": .object(data),
        ]
        json["version"] = version.map(JSONValue.string)
        return .array([.object(json)])
    }

    private static func digits(_ number: Int64, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}
