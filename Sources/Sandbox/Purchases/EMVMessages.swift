import StrictJSON

/// One authentication told in the messages of EMV 3-D Secure 2.2.0, app-based flow, with the data elements that
/// matter to an out-of-band challenge (Annex A, table A.1).
///
/// 2.2.0, because `authenticationType` is an element of it; 2.3 has `authenticationMethod` in its place. What is a card
/// scheme's to compute or assign is left out: authenticationValue, eci, reference numbers.
struct EMVMessages: Sendable {
    static let version = "2.2.0"

    let purchase: PurchaseRecord
    let completion: CompletionRecord?

    // The native interface, template 04: out of band. The ARes announces it, the RReq says that it was used.
    private static let rendering: JSONValue = ["acsInterface": "01", "acsUiTemplate": "04"]

    /// What the messages of one authentication have in common.
    private func message(_ type: String, _ members: JSONObject) -> JSONValue {
        var message: JSONObject = [
            "messageType": .string(type), "messageVersion": .string(Self.version),
            "threeDSServerTransID": .string(purchase.threeDSServerTransID),
            "sdkTransID": .string(purchase.sdkTransID),
        ]
        for member in members.members { message[member.name] = member.value }
        return .object(message)
    }

    private var acsTransID: JSONValue { .string(purchase.acsTransID) }
    private var dsTransID: JSONValue { .string(purchase.dsTransID) }

    var all: [JSONValue] {
        [areq, ares, firstCReq, firstCRes] + (completion.map(ending) ?? [])
    }

    private func ending(_ completion: CompletionRecord) -> [JSONValue] {
        let challenge = [outOfBand(completion), lastCReq(completion)].compactMap(\.self)
        return challenge + [rreq(completion), rres] + [finalCRes(completion)].compactMap(\.self)
    }

    private var areq: JSONValue {
        var members: JSONObject = [
            // 01: app-based; category 01: payment authentication, 02: none (table A.1).
            "deviceChannel": "01", "messageCategory": .string(purchase.isPayment ? "01" : "02"),
        ]
        for name in ["merchantName", "purchaseAmount", "purchaseCurrency", "purchaseExponent", "purchaseDate"] {
            members[name] = purchase.member(name).map(JSONValue.string)
        }
        return message("AReq", members)
    }

    private var ares: JSONValue {
        message(
            "ARes",
            [
                "acsTransID": acsTransID, "dsTransID": dsTransID, "transStatus": "C", "acsChallengeMandated": "Y",
                // 03: out of band.
                "authenticationType": "03", "acsRenderingType": Self.rendering,
            ])
    }

    private var firstCReq: JSONValue {
        var members: JSONObject = ["acsTransID": acsTransID, "sdkCounterStoA": "000"]
        members["threeDSRequestorAppURL"] = purchase.member("threeDSRequestorAppURL").map(JSONValue.string)
        return message("CReq", members)
    }

    private var firstCRes: JSONValue {
        message(
            "CRes",
            [
                "acsTransID": acsTransID, "acsCounterAtoS": "000", "acsUiType": "04", "challengeCompletionInd": "N",
                "challengeInfoHeader": "Approve the payment",
                "challengeInfoText": "Approve or deny in the authenticator, then continue here.",
                "oobContinueLabel": "Continue",
            ])
    }

    /// No message of EMV's: what went between the issuer and the authenticator.
    private func outOfBand(_ completion: CompletionRecord) -> JSONValue? {
        guard let jti = completion.jti else { return nil }
        return ["step": "outOfBand", "jti": .string(jti), "result": .string(completion.reason ?? "approved")]
    }

    /// The cardholder comes back to the merchant's app, or gives up there; at a time-out neither happens.
    private func lastCReq(_ completion: CompletionRecord) -> JSONValue? {
        var members: JSONObject = ["acsTransID": acsTransID, "sdkCounterStoA": "001"]
        switch completion.status {
        case .authenticated, .notAuthenticated: members["oobContinue"] = true
        case .cancelled: members["challengeCancel"] = "01"
        case .expired: return nil
        }
        return message("CReq", members)
    }

    private func rreq(_ completion: CompletionRecord) -> JSONValue {
        var members: JSONObject = [
            "acsTransID": acsTransID, "dsTransID": dsTransID,
            "messageCategory": .string(purchase.isPayment ? "01" : "02"), "authenticationType": "03",
            // Required unless acsDecConInd is Y: nothing here is decoupled.
            "acsRenderingType": Self.rendering,
            "transStatus": .string(completion.transStatus), "interactionCounter": completion.jti == nil ? "00" : "01",
        ]
        members["transStatusReason"] = completion.transStatusReason.map(JSONValue.string)
        members["challengeCancel"] = completion.challengeCancel.map(JSONValue.string)
        return message("RReq", members)
    }

    /// 01: the 3DS Server has received the results and will use them.
    private var rres: JSONValue {
        message("RRes", ["acsTransID": acsTransID, "dsTransID": dsTransID, "resultsStatus": "01"])
    }

    /// Nil after a time-out: it answers a CReq, and then none came in time.
    ///
    /// In the app channel the merchant learns of a time-out by the RReq alone; a CReq that comes later gets an Erro
    /// (errorComponent A, errorCode 402). Only the browser channel has a final CRes then.
    private func finalCRes(_ completion: CompletionRecord) -> JSONValue? {
        guard completion.status != .expired else { return nil }
        return message(
            "CRes",
            [
                "acsTransID": acsTransID, "acsCounterAtoS": "001", "challengeCompletionInd": "Y",
                "transStatus": .string(completion.transStatus),
            ])
    }
}

extension CompletionRecord {
    /// Why the authentication did not succeed (table A.1, Transaction Status Reason).
    var transStatusReason: String? {
        switch status {
        case .authenticated: nil
        case .expired: "14"  // Transaction timed out at the ACS.
        case .cancelled: "26"  // Authentication attempted but not performed by the cardholder.
        case .notAuthenticated:
            switch reason {
            case "suspectedFraud": "11"  // Suspected fraud.
            case "userDenied": "01"  // Card authentication failed.
            default: "22"  // ACS technical issue: the authenticator refused the request itself.
            }
        }
    }

    /// Challenge Cancelation Indicator, which tells leaving and timing out from failing (table A.1).
    var challengeCancel: String? {
        switch status {
        case .authenticated, .notAuthenticated: nil
        case .cancelled: "01"  // Cardholder selected Cancel.
        case .expired: "04"  // Transaction timed out at the ACS, other than for a missing first CReq.
        }
    }
}
