import StrictJSON

extension EMVStep {
    /// The elements that distinguish messages of the same kind, in the order of the detail.
    private static let told = [
        "transStatus", "transStatusReason", "challengeCancel", "deviceChannel", "messageCategory",
        "threeDSRequestorDecMaxTime", "threeDSRequestorAppURL", "threeDSRequestorAppURLInd", "acsUiType", "oobAppURL",
        "oobAppLabel", "oobAppURLInd", "oobAppStatus", "oobContinue", "authenticationType", "authenticationMethod",
        "interactionCounter", "resultsStatus", "errorCode",
    ]

    /// The detail of the step and the elements of its message, each once, as `NAME VALUE`, separated by commas.
    var wholeDetail: String {
        guard case .object(let message)? = message else { return detail }
        let elements = Self.told.compactMap { name in
            // An RReq repeats its AReq's value.
            name == "messageCategory" && label != "AReq" ? nil : message[name].map { "\(name) \(Self.text($0))" }
        }
        let said = detail.split(separator: ", ").filter { part in
            let name = part.prefix { $0 != " " }
            return name != "reason" && !Self.told.contains(String(name))
        }
        return (said.map(String.init) + elements).joined(separator: ", ")
    }

    private static func text(_ value: JSONValue) -> String {
        guard case .array(let elements) = value else { return Shown.plain(value) }
        return elements.map(Shown.plain).joined(separator: " ")
    }
}
