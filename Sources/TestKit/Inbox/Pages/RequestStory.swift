import Control
import PageServing
import SequenceDiagrams
import StrictJSON
import TextAndTime

/// The history of a request, from the agent's journal.
struct RequestStory {
    /// An entry of the journal, with its members as text that is safe to show.
    struct Entry {
        let seq: Int64
        let at: String
        let kind: String
        /// The members of this kind of entry, without the members that every entry has.
        let members: [(name: String, value: String)]

        subscript(name: String) -> String? { members.first { $0.name == name }?.value }
    }

    private enum Lane: Int { case issuer, agent, decider }

    private static let common: Set<String> = ["seq", "at", "entry", "previous", "enrollment", "request"]

    let entries: [Entry]
    private let request: RequestView

    init(_ evidence: EvidenceView) {
        request = evidence.request
        entries = evidence.journal.entries.compactMap { Self.entry($0) }
    }

    /// Parses an entry of the journal, or returns `nil` if the line is not an entry.
    ///
    /// The agent then has a version that this program does not know.
    private static func entry(_ line: String) -> Entry? {
        guard let object = try? JSONReader.object(Array(line.utf8), limits: JSONLimits(maxBytes: 65_536)),
            case .number(let number)? = object["seq"], let seq = Int64(number), case .string(let at)? = object["at"],
            case .string(let kind)? = object["entry"]
        else { return nil }
        let members = object.members.filter { !common.contains($0.name) }.map { member in
            (name: PageText.text(member.name), value: PageText.text(plain(member.value)))
        }
        return Entry(seq: seq, at: at, kind: kind, members: members)
    }

    /// Returns a string unquoted, and any other value as JSON.
    static func plain(_ value: JSONValue) -> String {
        if case .string(let text) = value { return text }
        return String(decoding: value.serialized(), as: UTF8.self)
    }

    /// The sequence diagram, or `nil` if the journal no longer has entries of the request, or has too many.
    var diagram: SequenceDiagram? {
        let steps = entries.flatMap(steps)
        guard !steps.isEmpty else { return nil }
        let title = [request.merchantName, request.amountText].compactMap(\.self).joined(separator: " · ")
        return SequenceDiagram(
            title: title.isEmpty ? "Request" : title,
            subtitles: ["acsTransID \(request.acsTransId)", entries.first.map { "from \($0.at)" } ?? ""],
            ending: .init(request.state.rawValue, Self.ending(of: request.state)),
            parties: [
                .init("issuer", role: "the bank’s back end"), .init("agent", role: "oob-agent", isHighlighted: true),
                .init("payer", role: "whoever decides"),
            ],
            steps: steps)
    }

    private static func ending(of state: RequestState) -> SequenceDiagram.Ending.Kind {
        switch state {
        case .pending: .open
        case .approved: .good
        case .denied, .expired, .cancelled, .refused: .bad
        }
    }

    /// Returns the steps of one entry: a message and its outcome, or a sent decision and its end.
    private func steps(_ entry: Entry) -> [SequenceDiagram.Step] {
        let message =
            entry["payload"] == nil
            ? nil : step(entry, .issuer, .agent, entry["cancels"] == nil ? "authn request" : "cancellation", "jti")
        let signed = entry["signCount"] == nil ? nil : step(entry, .agent, .agent, "signed", "signCount")
        let decision = entry["body"] == nil ? nil : step(entry, .agent, .issuer, "decision", "body")
        return [message, decision, event(entry), signed].compactMap(\.self)
    }

    /// Returns the step that the kind of an entry adds.
    private func event(_ entry: Entry) -> SequenceDiagram.Step? {
        switch entry.kind {
        case "received", "sent": nil
        case "presented": step(entry, .agent, .decider, "presented", "text")
        case "superseded": step(entry, .agent, .decider, "superseded", "jti")
        case "decided":
            step(entry, .decider, .agent, entry["decision"] ?? "decided", "reason", "by", "process", "persona", "rule")
        case "answered":
            step(entry, .issuer, .agent, "transStatus \(entry["transStatus"] ?? "?")", "times", isAnswer: true)
        default: step(entry, .agent, .agent, entry.kind, "refusal", "reason", "failure", "failures", "until", "did")
        }
    }

    /// - Parameter shown: the members to show below the arrow.
    private func step(
        _ entry: Entry, _ from: Lane, _ to: Lane, _ label: String, _ shown: String..., isAnswer: Bool = false
    ) -> SequenceDiagram.Step? {
        guard let at = UTCTime.seconds(entry.at) else { return nil }
        let detail = shown.compactMap { name in entry[name].map { "\(name) \($0)" } }.joined(separator: " · ")
        return SequenceDiagram.Step(
            at: at, from: from.rawValue, to: to.rawValue, label: label, detail: detail.isEmpty ? nil : detail,
            isAnswer: isAnswer)
    }
}
