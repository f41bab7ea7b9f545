import Control
import PageServing
import TextAndTime

/// Which requests are listed: what the URL says of it.
struct ListQuery: Sendable {
    /// The most bytes of a search; more are not looked for.
    static let maxText = 256

    static let maxRows = 50
    /// Bytes of HTML that the rows of one page come to.
    static let maxBytes = 40_000
    /// What a row has besides its texts.
    private static let rowBytes = 420

    /// Also those that are no longer pending.
    let all: Bool
    /// Part of a merchant's name, an amount, an acsTransId, an issuer or an enrollment's name; empty for all.
    let text: String
    /// The id of a request; the list has those that came before it.
    ///
    /// Nil: from the newest on.
    let before: String?

    init(_ query: PageForm) {
        all = query["state"] == "all"
        text = (query["q"] ?? "").beginning(bytes: Self.maxText)
        before = query["before"].flatMap { Self.isID($0) ? $0 : nil }
    }

    static func isID(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            }
    }

    /// The query that leads here; empty without any member.
    func query(before: String? = nil, tab: CardTab = .card) -> String {
        var members: [String] = []
        if all { members.append("state=all") }
        if !text.isEmpty { members.append("q=\(PercentEncoding.encode(text))") }
        if let before = before ?? self.before { members.append("before=\(before)") }
        if tab != .card { members.append("tab=\(tab.rawValue)") }
        return members.isEmpty ? "" : "?" + members.joined(separator: "&")
    }

    /// The same list from its newest request on.
    var newest: String {
        let members = [all ? "state=all" : nil, text.isEmpty ? nil : "q=\(PercentEncoding.encode(text))"]
        let query = members.compactMap(\.self).joined(separator: "&")
        return "/" + (query.isEmpty ? "" : "?" + query)
    }

    /// What a row comes to in HTML, at most.
    func bytes(of request: RequestView) -> Int {
        let texts = [request.merchantName, request.enrollmentName, request.issuer].map { PageText.text($0) }
        return Self.rowBytes + query().utf8.count + texts.reduce(0) { $0 + PageText.htmlBytes($1) }
    }

    func takes(_ request: RequestView) -> Bool {
        guard all || request.state == .pending else { return false }
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
    case card, wire, sequence, evidence, events

    var title: String {
        switch self {
        case .card: "Request"
        case .wire: "Wire"
        case .sequence: "Sequence"
        case .evidence: "Evidence"
        case .events: "Events"
        }
    }
}
