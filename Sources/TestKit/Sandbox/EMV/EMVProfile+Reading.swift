import StrictJSON
import TextAndTime
import ThreeDS

extension EMVProfile {
    /// The members of an order's `emv`, in the order of EMV's flow; all except `bridging` and `sdk` have EMV's names.
    private enum Member: String, CaseIterable {
        case messageVersion, bridging, deviceChannel, messageCategory, threeDSRequestorDecReqInd,
            threeDSRequestorDecMaxTime, whiteListStatus, trustListStatus, deviceBindingStatus, authenticationMethod,
            threeDSRequestorAppURLInd, oobAppURL, oobAppLabel, oobContinue, oobAppStatus, sdk

        /// Returns why a message of this profile lacks the element, or `nil` if it can have it.
        func absence(in profile: EMVProfile) -> String? {
            switch self {
            case .messageVersion, .deviceChannel, .messageCategory, .sdk: nil
            case .bridging: profile.version == .v220 ? nil : "the Bridging extension is one of 2.2.0"
            case .threeDSRequestorDecReqInd, .threeDSRequestorDecMaxTime:
                profile.version == .v210 ? "2.1.0 has no decoupled authentication; 2.2.0 and 2.3.1 have" : nil
            case .whiteListStatus:
                switch profile.version {
                case .v210: "2.1.0 does not have it; 2.2.0 does, and 2.3.1 has trustListStatus"
                case .v220: nil
                case .v231: "2.3.1 has trustListStatus in its place"
                }
            case .trustListStatus:
                switch profile.version {
                case .v210: "2.1.0 does not have it; 2.3.1 does, and 2.2.0 has whiteListStatus"
                case .v220: "2.2.0 has whiteListStatus in its place"
                case .v231: nil
                }
            case .deviceBindingStatus: profile.version == .v231 ? nil : "only 2.3.1 has it"
            case .authenticationMethod:
                profile.hasOOBElements
                    ? nil : "only 2.3.1, and 2.2.0 with bridging, have it; earlier versions have authenticationType"
            case .threeDSRequestorAppURLInd:
                profile.version == .v231 ? profile.notInApp : "only 2.3.1 has it"
            case .oobAppStatus: profile.version == .v231 ? profile.notInApp : "only 2.3.1 has it"
            case .oobAppURL, .oobAppLabel, .oobContinue:
                profile.hasOOBElements
                    ? profile.notInApp
                    : "only 2.3.1, and 2.2.0 with bridging, have it; in \(profile.version.rawValue) it is reserved"
            }
        }
    }

    private static let trustListStatuses = ["Y", "N", "E", "P", "R", "U"]
    private static let bindingStatuses = ["01", "02", "03", "04", "05", "11", "12", "13", "14", "15"]
    private static let methods = ["07", "08", "09", "11", "12", "13", "14"]

    /// The reason why the profile lacks the app channel's elements, or `nil` if it has them.
    private var notInApp: String? {
        channel == .app ? nil : "only the app channel (deviceChannel 01) has it"
    }

    /// Reads the member `emv` of an order; an empty object is 2.2.0 in the app channel.
    ///
    /// - Throws: `SandboxError` if a member is unknown, if its value is not allowed, if the version or the channel does
    ///   not have it, or if the transaction needs an element that they do not have.
    init(_ json: JSONObject, transaction: Transaction) throws {
        let members = EMVMembers(json: json)
        try members.refuseOthers(than: Member.allCases.map(\.rawValue))
        version = try members.choice("messageVersion") ?? .v220
        hasBridging = try members.flag("bridging")
        channel = try members.choice("deviceChannel") ?? .app
        category = try members.choice("messageCategory") ?? (transaction.purchase == nil ? .nonPayment : .payment)
        sdk = try members.choice("sdk") ?? .inOrder
        for member in Member.allCases where members.has(member.rawValue) {
            if let absence = member.absence(in: self) { throw EMVMembers.refusal(member.rawValue, absence) }
        }
        decoupled = try Self.decoupled(members)
        trustListStatus =
            try members.text("whiteListStatus", Self.trustListStatuses)
            ?? members.text("trustListStatus", Self.trustListStatuses)
        deviceBindingStatus = try members.text("deviceBindingStatus", Self.bindingStatuses)
        methods = try members.texts("authenticationMethod", Self.methods)
        appURLInd = try members.text("threeDSRequestorAppURLInd", ["Y", "N"])
        oobApp = try Self.oobApp(members)
        oobContinue = try members.text("oobContinue", ["01", "02"])
        oobAppFailed = try members.text("oobAppStatus", ["01"]) != nil
        try verify(transaction)
    }

    /// Verifies the rules that span several members or the transaction.
    private func verify(_ transaction: Transaction) throws {
        if oobAppFailed, oobApp == nil {
            throw EMVMembers.refusal("oobAppStatus", "it takes an oobAppURL, which did not open")
        }
        if category == .payment, transaction.purchase == nil {
            throw EMVMembers.refusal(
                "messageCategory", "01 is a payment, and the transaction has no purchase members")
        }
        if channel == .requestorInitiated, decoupled == nil {
            throw version == .v210
                ? EMVMembers.refusal(
                    "deviceChannel",
                    "in 2.1.0 the channel 03 cannot ask a cardholder: it has no decoupled authentication")
                : EMVMembers.refusal(
                    "deviceChannel",
                    "in the channel 03 a cardholder is asked decoupled: threeDSRequestorDecReqInd must be Y")
        }
        if decoupled != nil, sdk != .inOrder {
            throw EMVMembers.refusal("sdk", "a decoupled authentication has no challenge for an SDK to take part in")
        }
        if sdk == .noReturn, channel != .app { throw EMVMembers.refusal("sdk", "noReturn is of the app channel alone") }
        guard transaction.threeDSRequestorAppURL != nil else { return }
        if channel != .app { throw SandboxError.badRequest("threeDSRequestorAppURL: only the app channel has it") }
        if decoupled != nil {
            throw SandboxError.badRequest(
                "threeDSRequestorAppURL: a decoupled authentication has no CReq that could carry it")
        }
        guard version == .v210 else { return }
        throw SandboxError.badRequest(
            """
            threeDSRequestorAppURL: a CReq of 2.1.0 does not have it, and an ACS answers it with an Erro 203; 2.2.0 and \
            2.3.1 have it
            """,
            erro: EMVErro.invalidElement("threeDSRequestorAppURL", of: .creq, version, transaction.acsTransId))
    }

    private static func decoupled(_ members: EMVMembers) throws -> Decoupled? {
        let isAsked = try members.text("threeDSRequestorDecReqInd", ["Y", "N"]) == "Y"
        let maxTime = try members.text("threeDSRequestorDecMaxTime")
        guard isAsked else {
            if maxTime != nil {
                throw EMVMembers.refusal("threeDSRequestorDecMaxTime", "it takes threeDSRequestorDecReqInd Y")
            }
            return nil
        }
        guard let maxTime else {
            throw EMVMembers.refusal(
                "threeDSRequestorDecMaxTime", "it must be there if threeDSRequestorDecReqInd is Y")
        }
        let isNumber = maxTime.utf8.count == 5 && maxTime.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isNumber, let minutes = Int64(maxTime), Decoupled.range.contains(minutes) else {
            throw EMVMembers.refusal(
                "threeDSRequestorDecMaxTime", "must be five digits, 00001 to 10080 (minutes, at most 7 days)")
        }
        return Decoupled(maxMinutes: minutes)
    }

    private static func oobApp(_ members: EMVMembers) throws -> OOBApp? {
        let label = try members.text("oobAppLabel")
        guard let url = try members.text("oobAppURL") else {
            if label != nil { throw EMVMembers.refusal("oobAppLabel", "it takes an oobAppURL") }
            return nil
        }
        if let label,
            !(1...45).contains(label.unicodeScalars.count)
                || label.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        {
            throw EMVMembers.refusal("oobAppLabel", "must have 1 to 45 characters, none of them a control character")
        }
        do throws(URLRefusal) { _ = try ThreeDSRequestorAppURL(url) } catch {
            throw EMVMembers.refusal("oobAppURL", "\(error)")
        }
        return OOBApp(url: url, label: label)
    }
}

/// The members of an order's `emv`; errors name a member with its place.
private struct EMVMembers {
    let json: JSONObject

    static func refusal(_ member: String, _ sentence: String) -> SandboxError {
        .badRequest("emv/\(member): \(sentence)")
    }

    func has(_ name: String) -> Bool { json[name] ?? .null != .null }

    func refuseOthers(than names: [String]) throws(SandboxError) {
        for member in json.members where !names.contains(member.name) {
            let advice = NearestName.advice(for: member.name, among: names)
            throw Self.refusal(DisplayText(member.name).text, "no such member; \(advice)")
        }
    }

    func text(_ name: String) throws(SandboxError) -> String? {
        guard has(name), let value = json[name] else { return nil }
        guard case .string(let text) = value, (1...256).contains(text.utf8.count) else {
            throw Self.refusal(name, "must be a string of 1 to 256 bytes")
        }
        return text
    }

    func text(_ name: String, _ allowed: [String]) throws(SandboxError) -> String? {
        guard has(name) else { return nil }
        guard case .string(let text)? = json[name], allowed.contains(text) else {
            throw Self.refusal(name, "must be one of \(allowed.joined(separator: ", "))")
        }
        return text
    }

    /// Reads an array of distinct allowed values, at least one.
    func texts(_ name: String, _ allowed: [String]) throws(SandboxError) -> [String]? {
        guard has(name) else { return nil }
        guard case .array(let elements)? = json[name], !elements.isEmpty,
            Set(elements.map(\.text)).count == elements.count
        else { throw Self.refusal(name, "must be an array of different ones of \(allowed.joined(separator: ", "))") }
        return try elements.map { element throws(SandboxError) in
            guard case .string(let text) = element, allowed.contains(text) else {
                throw Self.refusal(name, "must be an array of different ones of \(allowed.joined(separator: ", "))")
            }
            return text
        }
    }

    func choice<Choice: RawRepresentable & CaseIterable>(_ name: String) throws(SandboxError) -> Choice?
    where Choice.RawValue == String {
        try text(name, Choice.allCases.map(\.rawValue)).flatMap(Choice.init(rawValue:))
    }

    func flag(_ name: String) throws(SandboxError) -> Bool {
        switch json[name] ?? .null {
        case .null, .bool(false): false
        case .bool(true): true
        default: throw Self.refusal(name, "must be true or false")
        }
    }
}
