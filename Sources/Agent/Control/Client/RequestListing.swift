/// The query of a list of requests: the selected requests, and the position in the list.
package struct RequestListing: Sendable {
    /// Whether requests that are no longer pending are included.
    package var all: Bool
    package var limit: Int
    package var enrollment: String?
    /// The id of a request.
    ///
    /// The page begins with the next request after it.
    package var after: String?
    /// The id of a request.
    ///
    /// The page ends with the last request before it.
    package var before: String?

    package init(
        all: Bool, limit: Int, enrollment: String? = nil, after: String? = nil, before: String? = nil
    ) {
        self.all = all
        self.limit = limit
        self.enrollment = enrollment
        self.after = after
        self.before = before
    }

    /// Returns the query for the next page.
    ///
    /// If the list began with the newest requests, it goes on to the older ones.
    package func next(after page: [RequestView]) -> RequestListing {
        var next = self
        if after == nil && (before != nil || all) {
            next.before = page.first?.id
        } else {
            next.after = page.last?.id
        }
        return next
    }

    var query: [(String, String)] {
        let members = [
            ("limit", String(limit)), ("all", all ? "true" : nil), ("enrollment", enrollment), ("after", after),
            ("before", before),
        ]
        return members.compactMap { name, value in value.map { (name, $0) } }
    }
}
