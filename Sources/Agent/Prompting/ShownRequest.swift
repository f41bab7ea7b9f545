package import Control
internal import FoundationEssentials

/// A pending request with the text that the agent wrote for it: what is shown, and what a decision refers to.
package struct ShownRequest: Sendable, Equatable {
    package let id: String
    /// The agent's lines, in its order, as they are.
    let lines: [String]
    /// What goes back with the decision: it says which text was shown.
    package let textDigest: String
    /// Seconds since 1970, by this machine's clock.
    let expiresAt: Int64?
    /// How far the agent's clock is ahead of this machine's, if it is a test's: such as `10m`.
    let testClock: String?

    /// Nil if the agent sent no text: what cannot be shown cannot be asked about.
    package init?(_ request: RequestView) {
        guard let text = request.text, let digest = request.textDigest else { return nil }
        id = request.id
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        textDigest = digest
        expiresAt = request.expiresAt.flatMap { try? Date.ISO8601FormatStyle().parse($0) }
            .map { Int64($0.timeIntervalSince1970) - Int64(request.clock?.offsetSeconds ?? 0) }
        testClock = request.clock?.offsetText
    }

    /// What a line with this label says; the agent lets no value pass for a label.
    private func value(of label: String) -> String? {
        guard let line = lines.first(where: { $0.hasPrefix(label + ":") }) else { return nil }
        return String(line.dropFirst(label.count + 1).drop { $0 == " " })
    }

    /// Amount and merchant, as they stand in the text.
    var subject: String {
        let merchant = value(of: "Merchant") ?? "an unnamed merchant"
        guard let amount = value(of: "Amount"), !amount.hasPrefix("none ") else {
            return "this authentication (not a payment) for \(merchant)"
        }
        return "\(amount) to \(merchant)"
    }

    var warnings: Int { lines.count { $0.hasPrefix("Warning:") } }
}
