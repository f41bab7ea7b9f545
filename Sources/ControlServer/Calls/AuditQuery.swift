import Authenticator
import Control
import HTTPTypes
import Hummingbird
import HummingbirdCore

/// Which entries of the journal are meant.
struct AuditQuery {
    let after: Int64
    let limit: Int

    init(_ uri: URI) throws(ControlError) {
        after = try uri.number("after", in: 0...Int64.max) ?? 0
        limit = Int(try uri.number("limit", in: 1...Int64(Journal.maxEntries)) ?? Int64(Journal.maxEntries))
    }
}

/// Which events are meant.
struct EventQuery {
    /// After which place; nil stands for the newest.
    let since: EventCursor?
    let enrollment: String?

    /// A reader that comes back says in a header what it had, whatever its address says (HTML Standard §9.2.4).
    init(_ request: Request) throws(ControlError) {
        let last = request.headers.first { $0.name.rawName.lowercased() == "last-event-id" }?.value
        let named = request.uri.queryParameters["since"].map(String.init)
        since =
            if let last { try Self.cursor(last, as: ServerSentEvents.lastEventID) } else {
                try named.map { text throws(ControlError) in try Self.cursor(text, as: "since") }
            }
        enrollment = request.uri.queryParameters["enrollment"].map(String.init)
    }

    private static func cursor(_ text: String, as name: String) throws(ControlError) -> EventCursor {
        guard let cursor = EventCursor(text) else {
            throw ControlError(.invalidArgument, "\(name): must be \(EventCursor.form)")
        }
        return cursor
    }
}

extension URI {
    fileprivate func number(_ name: String, in range: ClosedRange<Int64>) throws(ControlError) -> Int64? {
        guard let text = queryParameters[Substring(name)] else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            let upTo = range.upperBound == .max ? "or more" : "to \(range.upperBound)"
            throw ControlError(.invalidArgument, "\(name): must be a whole number of \(range.lowerBound) \(upTo)")
        }
        return number
    }
}
