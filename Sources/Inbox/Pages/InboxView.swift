import Control
import PageServing
import StrictJSON
import ThreeDS

/// Which requests are listed: what the URL says of it.
struct ListFilter: Sendable {
    /// Rows of one page of the list.
    static let rows = 100
    static let maxText = 200

    let all: Bool
    /// Part of a merchant's name, an amount, an acsTransId or an enrollment's name; empty for all.
    let text: String
    /// From 1.
    let page: Int

    init(_ query: PageForm) {
        all = query["state"] == "all"
        text = String((query["q"] ?? "").prefix(Self.maxText))
        page = min(max(query["page"].flatMap { Int($0) } ?? 1, 1), InboxAgent.most)
    }

    /// The query that leads here, with other members if they are given; empty without any.
    func query(page: Int? = nil, tab: CardTab? = nil) -> String {
        var members: [String] = []
        if all { members.append("state=all") }
        if !text.isEmpty { members.append("q=\(PercentEncoding.encode(text))") }
        if (page ?? self.page) > 1 { members.append("page=\(page ?? self.page)") }
        if let tab, tab != .card { members.append("tab=\(tab.rawValue)") }
        return members.isEmpty ? "" : "?" + members.joined(separator: "&")
    }

    func takes(_ request: RequestView) -> Bool {
        guard !text.isEmpty else { return true }
        let places = [
            request.merchantName, request.amountText, request.acsTransId, request.id, request.enrollmentName,
            request.issuer, request.state.rawValue,
        ]
        let wanted = text.lowercased()
        return places.contains { $0?.lowercased().contains(wanted) ?? false }
    }
}

/// What is below the list's request: the card, or one look behind it.
enum CardTab: String, Sendable, CaseIterable {
    case card, wire, evidence

    var title: String {
        switch self {
        case .card: "Request"
        case .wire: "Wire"
        case .evidence: "Evidence"
        }
    }
}

/// All that one page says.
struct InboxView: Sendable {
    let requests: [RequestView]
    let filter: ListFilter
    let shown: RequestView?
    let tab: CardTab
    let evidence: EvidenceView?
    let needsPIN: Bool
    let mayDecide: Bool
    let formToken: String
    /// Why the last decision was not made.
    let problem: String?
}
