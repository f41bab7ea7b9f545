/// By which way a request, and what takes it back, is to reach its authenticator.
enum PushMode: String, Sendable, CaseIterable {
    /// Listed, and pushed where there is a subscription.
    case both
    /// As `both`, but what is pushed says no more than that there is something to fetch.
    case hint
    /// Pushed, and never listed.
    case pushOnly = "only"
    /// Listed, and never pushed.
    case listOnly = "none"

    var isListed: Bool { self != .pushOnly }
    var isPushed: Bool { self != .listOnly }
}
