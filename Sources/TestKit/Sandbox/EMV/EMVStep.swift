import StrictJSON

/// A party of the story that a purchase tells; the raw values are those of its JSON.
enum EMVParty: String, Sendable {
    case authenticator, acs
    case server = "3dsServer"
    case sdk, browser
}

/// One line of the story: who told whom what, and when.
struct EMVStep: Sendable {
    /// Seconds since 1970.
    let at: Int64
    let from: EMVParty
    let to: EMVParty
    let label: String
    var detail = ""
    /// Nil for what is no message of EMV's and has no place among them.
    var message: JSONValue?

    var json: JSONValue {
        var json: JSONObject = [
            "at": .time(at), "from": .string(from.rawValue), "to": .string(to.rawValue), "label": .string(label),
        ]
        if !wholeDetail.isEmpty { json["detail"] = .string(wholeDetail) }
        return .object(json)
    }
}
