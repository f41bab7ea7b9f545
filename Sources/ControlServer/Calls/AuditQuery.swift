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
    /// After which one; nil stands for the newest.
    let since: Int64?
    let enrollment: String?

    /// A reader that comes back says in a header what it had, whatever its address says (HTML Standard §9.2.4).
    init(_ request: Request) throws(ControlError) {
        let range = 0...Int64.max
        let last = request.headers.first { $0.name.rawName.lowercased() == "last-event-id" }.map {
            Int64($0.value) ?? -1
        }
        guard last.map(range.contains) ?? true else {
            throw ControlError(.invalidArgument, "\(ServerSentEvents.lastEventID): must be a number of 0 or more")
        }
        if let last { since = last } else { since = try request.uri.number("since", in: range) }
        enrollment = request.uri.queryParameters["enrollment"].map(String.init)
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
