import StrictJSON
import TextAndTime

/// A purchase's timeline, as a client of the sandbox received it.
package struct PurchaseReport: Sendable {
    package let acsTransId: String
    let status: String
    let timeline: JSONObject

    init(_ timeline: JSONObject) throws(SandboxClient.CallError) {
        do throws(JSONMemberError) {
            acsTransId = try timeline.string("acsTransId", bytes: 36...36)
            status = try timeline.string("status", bytes: 1...64)
        } catch { throw .refused("the answer is not a sandbox's: \(error)") }
        self.timeline = timeline
    }

    /// The acsTransId and the status, on one line.
    package var statusLine: String { "\(acsTransId) \(status)" }

    package var isCompleted: Bool { status != "pending" }
    package var isAuthenticated: Bool { status == CompletionRecord.Status.authenticated.rawValue }

    /// The whole timeline, on one line.
    package var json: String { ShownJSON.escaped(JSONValue.object(timeline).text) }

    /// The timeline as text that is safe to print: the end, the verified checks, and one line for each message.
    ///
    /// It leaves out identifiers and texts that add no information. `json` has all of them.
    package var text: String {
        var lines = [statusLine]
        if let decision = member("decision") { lines.append("decision: \(Shown.pairs(decision))") }
        let checks = Shown.objects(timeline["verdict"])
        if !checks.isEmpty { lines.append("what the issuer checked of the assertion:") }
        lines += checks.map { "  \(Shown.text($0["check"])): \(Shown.text($0["result"]))" }
        lines.append("messages:")
        lines += Shown.objects(timeline["messages"]).map { message in
            // The version is the same in all messages; the first one shows it.
            let leftOut = message["messageType"] == "AReq" ? Self.leftOut : Self.leftOut.union(["messageVersion"])
            let kind = Shown.text(message["messageType"] ?? message["step"])
            return "  \(kind) \(Shown.pairs(message, without: leftOut))"
        }
        let requests = Shown.objects(timeline["requests"])
        lines += requests.flatMap { Shown.objects($0["refusedDecisions"]) }.map { "refused: \(Shown.pairs($0))" }
        lines += requests.flatMap { Shown.objects($0["pushes"]) }.map { "push: \(Shown.pairs($0))" }
        if let merchant = member("merchant") { lines += Self.merchant(merchant) }
        return lines.joined(separator: "\n")
    }

    /// Formats the merchant's own members on one line, and each payment service's on another.
    private static func merchant(_ merchant: JSONObject) -> [String] {
        var (own, services) = (JSONObject([]), [String]())
        for member in merchant.members {
            if case .object(let result) = member.value {
                services.append("  \(DisplayText(member.name).text): \(Shown.pairs(result))")
            } else {
                own[member.name] = member.value
            }
        }
        return ["merchant: \(Shown.pairs(own))"] + services
    }

    private func member(_ name: String) -> JSONObject? {
        guard case .object(let object)? = timeline[name] else { return nil }
        return object
    }

    private static let leftOut: Set<String> = [
        "messageType", "step", "threeDSServerTransID", "sdkTransID", "dsTransID", "acsTransID",
        "challengeInfoHeader", "challengeInfoText", "oobContinueLabel",
    ]
}
