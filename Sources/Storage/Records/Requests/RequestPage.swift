/// Between which requests a list is, in the order in which they came; neither of them is in it.
package struct RequestPage: Sendable, Equatable {
    package var after: RequestID?
    package var before: RequestID?

    package init(after: RequestID? = nil, before: RequestID? = nil) {
        self.after = after
        self.before = before
    }

    /// Whether a list that is cut short has its last ones: those before a request, and of all without a bound.
    package func isFromTheEnd(pendingOnly: Bool) -> Bool {
        after == nil && (before != nil || !pendingOnly)
    }
}
