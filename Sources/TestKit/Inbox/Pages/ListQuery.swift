import Control
import PageServing
import TextAndTime

/// The selection of listed requests, from the URL's query.
struct ListQuery: Sendable {
    /// The limit of a search text, in bytes; the rest is ignored.
    static let maxText = 256

    static let maxRows = 50
    /// The limit of a page's rows, in bytes of HTML.
    static let maxBytes = 40_000
    /// The bytes of a row besides its texts.
    private static let rowBytes = 420

    /// Whether to list also requests that are no longer pending.
    let all: Bool
    /// A part of a merchant's name, an amount, an acsTransId, an issuer or an enrollment's name; empty for all.
    let text: String
    /// The id of a request; the list has the requests that came before it.
    ///
    /// `nil` starts with the newest request.
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

    /// Returns the query of this selection; empty if it has no members.
    func query(before: String? = nil, tab: CardTab = .card) -> String {
        var members: [String] = []
        if all { members.append("state=all") }
        if !text.isEmpty { members.append("q=\(PercentEncoding.encode(text))") }
        if let before = before ?? self.before { members.append("before=\(before)") }
        if tab != .card { members.append("tab=\(tab.rawValue)") }
        return members.isEmpty ? "" : "?" + members.joined(separator: "&")
    }

    /// The address of the same list from its newest request on.
    var newest: String {
        let members = [all ? "state=all" : nil, text.isEmpty ? nil : "q=\(PercentEncoding.encode(text))"]
        let query = members.compactMap(\.self).joined(separator: "&")
        return "/" + (query.isEmpty ? "" : "?" + query)
    }

    /// Returns the limit of a row's size, in bytes of HTML.
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

/// The tabs of a request: its card, or one view of the details behind it.
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
