import StrictJSON
import TextAndTime

/// A purchase's timeline as a client of the sandbox got it.
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

    /// The acsTransId and the status.
    package var statusLine: String { "\(acsTransId) \(status)" }

    package var isCompleted: Bool { status != "pending" }
    package var isAuthenticated: Bool { status == CompletionRecord.Status.authenticated.rawValue }

    /// The whole timeline, on one line.
    package var json: String { ShownJSON.escaped(JSONValue.object(timeline).text) }

    /// The timeline for a person, safe to print: how it ended, what was verified, and the messages, one a line, without
    /// the identifiers and texts that say nothing new; `json` has all.
    package var text: String {
        var lines = [statusLine]
        if let decision = member("decision") { lines.append("decision: \(Shown.pairs(decision))") }
        let checks = Shown.objects(timeline["verdict"])
        if !checks.isEmpty { lines.append("what the issuer checked of the assertion:") }
        lines += checks.map { "  \(Shown.text($0["check"])): \(Shown.text($0["result"]))" }
        lines.append("messages:")
        lines += Shown.objects(timeline["messages"]).map { message in
            // The version is the same in all; the first one says it.
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

    /// Its own members on one line, and one for each payment service.
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
