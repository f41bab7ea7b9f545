import StrictJSON

extension EMVStep {
    /// The elements that tell one message of a kind from another, in the order in which they are told.
    private static let told = [
        "transStatus", "transStatusReason", "challengeCancel", "deviceChannel", "messageCategory",
        "threeDSRequestorDecMaxTime", "threeDSRequestorAppURL", "threeDSRequestorAppURLInd", "acsUiType", "oobAppURL",
        "oobAppLabel", "oobAppURLInd", "oobAppStatus", "oobContinue", "authenticationType", "authenticationMethod",
        "interactionCounter", "resultsStatus", "errorCode",
    ]

    /// What is said of the step, and then the elements of its message, each once: `NAME VALUE`, with commas between.
    var wholeDetail: String {
        guard case .object(let message)? = message else { return detail }
        let elements = Self.told.compactMap { name in
            // An RReq's is its AReq's.
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
