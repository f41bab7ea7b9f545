import Control
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Journal

/// A query for entries of the journal.
struct AuditQuery {
    let after: EventCursor
    let limit: Int
    /// The host whose chain is read, or `nil` for this host.
    let host: String?

    init(_ uri: URI) throws(ControlError) {
        after = try uri.cursor("after") ?? .beginning
        host = uri.queryParameters["host"].map(String.init)
        limit = Int(try uri.number("limit", in: 1...Int64(JournalReader.maxEntries)) ?? Int64(JournalReader.maxEntries))
    }
}

/// A query for events.
struct EventQuery {
    /// The place after which events are sent, or `nil` for the newest event.
    let since: EventCursor?
    let enrollment: String?

    /// A reader that reconnects sends its place in a header, which overrides the URL (HTML Standard §9.2.4).
    init(_ request: Request) throws(ControlError) {
        let last = request.headers.first { $0.name.rawName.lowercased() == "last-event-id" }?.value
        since =
            if let last { try EventCursor(last, of: ServerSentEvents.lastEventID) } else {
                try request.uri.cursor("since")
            }
        enrollment = request.uri.queryParameters["enrollment"].map(String.init)
    }
}

extension EventCursor {
    fileprivate init(_ text: String, of name: String) throws(ControlError) {
        guard let cursor = EventCursor(text) else {
            throw ControlError(.invalidArgument, "\(name): must be \(EventCursor.form)")
        }
        self = cursor
    }
}

extension URI {
    fileprivate func cursor(_ name: String) throws(ControlError) -> EventCursor? {
        guard let text = queryParameters[Substring(name)] else { return nil }
        return try EventCursor(String(text), of: name)
    }

    fileprivate func number(_ name: String, in range: ClosedRange<Int64>) throws(ControlError) -> Int64? {
        guard let text = queryParameters[Substring(name)] else { return nil }
        guard let number = Int64(text), range.contains(number) else {
            let upTo = range.upperBound == .max ? "or more" : "to \(range.upperBound)"
            throw ControlError(.invalidArgument, "\(name): must be a whole number of \(range.lowerBound) \(upTo)")
        }
        return number
    }
}
