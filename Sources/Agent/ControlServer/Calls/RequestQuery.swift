import Control
import HummingbirdCore
import Records

/// A query for requests.
struct RequestQuery {
    /// The default number of rows.
    static let usualLimit = 100
    static let maxRows = 1_000

    let all: Bool
    let limit: Int
    let enrollment: String?
    let page: RequestPage

    init(_ uri: URI) throws(ControlError) {
        let members = uri.queryParameters
        switch members["all"].map(String.init) {
        case nil, "false": all = false
        case "true": all = true
        default: throw ControlError(.invalidArgument, "all: must be true or false")
        }
        limit = try uri.limit(upTo: Self.maxRows) ?? Self.usualLimit
        enrollment = members["enrollment"].map(String.init)
        page = RequestPage(
            after: try Self.id(members["after"], of: "after"), before: try Self.id(members["before"], of: "before"))
    }

    private static func id(_ text: Substring?, of name: String) throws(ControlError) -> RequestID? {
        guard let text else { return nil }
        guard let id = RequestID(String(text)) else {
            throw ControlError(.invalidArgument, "\(name): must be the id of a request, whole")
        }
        return id
    }
}

// MARK: Pages

extension RequestQuery {
    /// Cuts a list of one more than the limit to the limit.
    ///
    /// Returns the next page, or `nil` at the list's end.
    ///
    /// The next page goes on in the same direction: towards newer requests, or towards older ones if the list began
    /// with the newest.
    func takeNext(from records: inout [RequestRecord]) -> RequestPage? {
        guard records.count > limit else { return nil }
        var next = page
        if page.isFromTheEnd(pendingOnly: !all) {
            records.removeFirst()
            next.before = records.first?.id
        } else {
            records.removeLast()
            next.after = records.last?.id
        }
        return next
    }

    /// The target of another page of a list.
    func target(of page: RequestPage, in list: ControlRoute, enrollment: EnrollmentID?) -> String {
        let members = [
            ("all", all ? "true" : nil), ("limit", "\(limit)"), ("enrollment", enrollment?.text),
            ("after", page.after?.text), ("before", page.before?.text),
        ]
        let query = members.compactMap { name, value in value.map { "\(name)=\($0)" } }
        return "\(list.path)?" + query.joined(separator: "&")
    }
}

/// A query for enrollments.
struct EnrollmentQuery {
    static let maxRows = 100_000

    let limit: Int
    let after: EnrollmentID?

    init(_ uri: URI) throws(ControlError) {
        limit = try uri.limit(upTo: Self.maxRows) ?? Self.maxRows
        let text = uri.queryParameters["after"].map(String.init)
        after = text.flatMap(EnrollmentID.init)
        guard (text == nil) == (after == nil) else {
            throw ControlError(.invalidArgument, "after: must be the id of an enrollment, whole")
        }
    }
}

extension URI {
    /// The requested number of rows, or `nil` if the query has none.
    fileprivate func limit(upTo most: Int) throws(ControlError) -> Int? {
        guard let text = queryParameters["limit"] else { return nil }
        guard let number = Int(text), (1...most).contains(number) else {
            throw ControlError(.invalidArgument, "limit: must be a whole number of 1 to \(most)")
        }
        return number
    }
}
