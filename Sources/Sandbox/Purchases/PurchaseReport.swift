import StrictJSON
import ThreeDS

/// A purchase's timeline as a client of the sandbox got it.
package struct PurchaseReport: Sendable {
    package let acsTransId: String
    private let status: String
    private let timeline: JSONObject

    init(_ timeline: JSONObject) throws(SandboxClient.CallError) {
        do throws(JSONMemberError) {
            acsTransId = try timeline.string("acsTransId", bytes: 36...36)
            status = try timeline.string("status", bytes: 1...64)
        } catch { throw .refused("the answer is not a sandbox's: \(error)") }
        self.timeline = timeline
    }

    package var isCompleted: Bool { status != "pending" }
    package var isAuthenticated: Bool { status == CompletionRecord.Status.authenticated.rawValue }

    /// The whole timeline, on one line.
    package var json: String { ShownJSON.escaped(JSONValue.object(timeline).text) }

    /// The timeline for a person, safe to print: how it ended, what was verified, and the messages, one a line, without
    /// the identifiers and texts that say nothing new; `json` has all.
    package var text: String {
        var lines = ["\(acsTransId) \(status)"]
        if let decision = member("decision") { lines.append("decision: \(Self.pairs(decision))") }
        let checks = elements("verdict")
        if !checks.isEmpty { lines.append("what the issuer checked of the assertion:") }
        lines += checks.map { "  \(Self.text($0["check"])): \(Self.text($0["result"]))" }
        lines.append("messages:")
        lines += elements("messages").map { message in
            "  \(Self.text(message["messageType"] ?? message["step"])) \(Self.pairs(message))"
        }
        lines += elements("requests").flatMap { Self.elements($0["pushes"]) }.map { "push: \(Self.pairs($0))" }
        if let merchant = member("merchant") { lines.append("merchant: \(Self.pairs(merchant))") }
        return lines.joined(separator: "\n")
    }

    private func member(_ name: String) -> JSONObject? {
        guard case .object(let object)? = timeline[name] else { return nil }
        return object
    }

    private func elements(_ name: String) -> [JSONObject] { Self.elements(timeline[name]) }

    private static func elements(_ value: JSONValue?) -> [JSONObject] {
        guard case .array(let elements)? = value else { return [] }
        return elements.compactMap { element in
            guard case .object(let object) = element else { return nil }
            return object
        }
    }

    private static let leftOut: Set<String> = [
        "messageType", "step", "messageVersion", "threeDSServerTransID", "sdkTransID", "dsTransID", "acsTransID",
        "challengeInfoHeader", "challengeInfoText", "oobContinueLabel",
    ]

    /// Pairs of `name=value`.
    private static func pairs(_ object: JSONObject) -> String {
        object.members.filter { !leftOut.contains($0.name) }
            .map { "\(DisplayText($0.name).text)=\(text($0.value))" }.joined(separator: " ")
    }

    /// A string as it is, anything else as JSON.
    private static func text(_ value: JSONValue?) -> String {
        guard case .string(let string)? = value else { return DisplayText(value?.text ?? "").text }
        return DisplayText(string).text
    }
}
