/// The bounds of a list of requests, in the order of their arrival; the bounds themselves are excluded.
package struct RequestPage: Sendable, Equatable {
    package var after: RequestID?
    package var before: RequestID?

    package init(after: RequestID? = nil, before: RequestID? = nil) {
        self.after = after
        self.before = before
    }

    /// Returns whether a list that is cut short has its last requests instead of the first.
    ///
    /// That is so for a list before a request, and for a list of all without a bound.
    package func isFromTheEnd(pendingOnly: Bool) -> Bool {
        after == nil && (before != nil || !pendingOnly)
    }
}
