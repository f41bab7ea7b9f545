import StrictJSON
import ThreeDS

/// A purchase's story as a client of the sandbox got it.
package struct PurchaseReport: Sendable {
    package let acsTransId: String
    private let status: String
    private let story: JSONObject

    init(_ story: JSONObject) throws(SandboxClient.Failure) {
        do throws(JSONMemberError) {
            acsTransId = try story.string("acsTransId", octets: 36...36)
            status = try story.string("status", octets: 1...64)
        } catch { throw .refused("the answer is not a sandbox's: \(error)") }
        self.story = story
    }

    package var isCompleted: Bool { status != "pending" }
    package var isAuthenticated: Bool { status == CompletionRecord.Status.authenticated.rawValue }

    /// The whole story, on one line.
    package var json: String { JSONValue.object(story).text }

    /// The story for a person: status, what was checked, and the messages, one a line and safe to print.
    package var text: String {
        var lines = ["\(acsTransId)  \(status)"]
        if let decision = member("decision") { lines.append("decision   \(Self.line(decision))") }
        for check in elements("verdict") { lines.append("verified   \(Self.line(check))") }
        for message in elements("messages") { lines.append("message    \(Self.line(message))") }
        if let merchant = member("merchant") { lines.append("merchant   \(Self.line(merchant))") }
        return lines.joined(separator: "\n")
    }

    private func member(_ name: String) -> JSONObject? {
        guard case .object(let object)? = story[name] else { return nil }
        return object
    }

    private func elements(_ name: String) -> [JSONObject] {
        guard case .array(let elements)? = story[name] else { return [] }
        return elements.compactMap { element in
            guard case .object(let object) = element else { return nil }
            return object
        }
    }

    /// `name=value` pairs, what is nested as JSON.
    private static func line(_ object: JSONObject) -> String {
        object.members.map { member in
            let value: String
            if case .string(let text) = member.value { value = text } else { value = member.value.text }
            return "\(DisplayText(member.name).text)=\(DisplayText(value).text)"
        }.joined(separator: " ")
    }
}
