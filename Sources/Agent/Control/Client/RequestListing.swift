/// Which requests are listed, and from where.
package struct RequestListing: Sendable {
    /// Those that are no longer pending as well.
    package var all: Bool
    package var limit: Int
    package var enrollment: String?
    /// The id of a request: those that came next after it.
    package var after: String?
    /// Likewise: those that came last before it.
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

    /// The same list from where a page of it ends: towards the older ones if it began with the newest.
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
