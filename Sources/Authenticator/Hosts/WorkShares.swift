/// Which enrollments this host polls and delivers for, where several hosts share a store.
///
/// It saves work and keeps nothing safe: two hosts that take an enrollment for theirs at the same time do the same
/// twice, which the store and the protocol answer alike.
package protocol WorkShares: Sendable {
    /// Whether an enrollment's issuer is this host's to ask and to answer.
    func isOurs(_ id: EnrollmentID) -> Bool
    /// Keeps the share until the task is cancelled.
    ///
    /// - Parameter onChange: called after ``isOurs(_:)`` has changed for some.
    func run(onChange: @escaping @Sendable () -> Void) async throws
}

extension Ports {
    /// Whether this host polls and delivers for an enrollment: each, if it has the store to itself.
    func isOurs(_ id: EnrollmentID) -> Bool { shares?.isOurs(id) ?? true }
}

extension EventHub {
    /// Rings once other enrollments than before are this host's.
    func sharesNotifier() -> AsyncStream<Void> {
        notifier { if case .sharesChanged = $0 { true } else { false } }
    }
}
