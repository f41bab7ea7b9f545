package import Control
internal import FoundationEssentials

/// A pending request with the agent's text for it; a decision refers to this text.
package struct ShownRequest: Sendable, Equatable {
    package let id: String
    /// The agent's lines, in its order, unchanged.
    let lines: [String]
    /// The digest that a decision returns, to say which text was shown.
    package let textDigest: String
    /// Seconds since 1970, by this machine's clock.
    let expiresAt: Int64?
    /// The agent's test clock ahead of this machine's, such as `10m`, or `nil` for a real clock.
    let testClock: String?

    /// Returns `nil` if the agent sent no text: a request that cannot be shown cannot be decided here.
    package init?(_ request: RequestView) {
        guard let text = request.text, let digest = request.textDigest else { return nil }
        id = request.id
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        textDigest = digest
        expiresAt = request.expiresAt.flatMap { try? Date.ISO8601FormatStyle().parse($0) }
            .map { Int64($0.timeIntervalSince1970) - Int64(request.clock?.offsetSeconds ?? 0) }
        testClock = request.clock?.offsetText
    }

    /// The value of the line with this label; the agent lets no value imitate a label.
    private func value(of label: String) -> String? {
        guard let line = lines.first(where: { $0.hasPrefix(label + ":") }) else { return nil }
        return String(line.dropFirst(label.count + 1).drop { $0 == " " })
    }

    /// Amount and merchant, as in the text.
    var subject: String {
        let merchant = value(of: "Merchant") ?? "an unnamed merchant"
        guard let amount = value(of: "Amount"), !amount.hasPrefix("none ") else {
            return "this authentication (not a payment) for \(merchant)"
        }
        return "\(amount) to \(merchant)"
    }

    var warnings: Int { lines.count { $0.hasPrefix("Warning:") } }
}
