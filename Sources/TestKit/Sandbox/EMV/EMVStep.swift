import StrictJSON

/// A party in the course of a purchase; the raw values are those of its JSON.
enum EMVParty: String, Sendable {
    case authenticator, acs
    case server = "3dsServer"
    case sdk, browser
}

/// A step of the course: sender, receiver, content and time.
struct EMVStep: Sendable {
    /// The time, in seconds since 1970.
    let at: Int64
    let from: EMVParty
    let to: EMVParty
    let label: String
    var detail = ""
    /// The message, or `nil` for a step that is not listed among EMV's messages.
    var message: JSONValue?

    var json: JSONValue {
        var json: JSONObject = [
            "at": .time(at), "from": .string(from.rawValue), "to": .string(to.rawValue), "label": .string(label),
        ]
        if !wholeDetail.isEmpty { json["detail"] = .string(wholeDetail) }
        return .object(json)
    }
}
