/// Which enrollments this host polls and delivers for, where several hosts share a store.
///
/// It saves work and keeps nothing safe: two hosts that take an enrollment for theirs at the same time do the same
/// twice, which the store and the protocol answer alike.
package protocol WorkShares: Sendable {
    /// The term for which an enrollment's issuer is this host's to ask and to answer; nil if it is not.
    func term(of id: EnrollmentID) -> WorkTerm?
    /// Keeps the share until the task is cancelled.
    ///
    /// - Parameter onChange: called after ``term(of:)`` has changed for some.
    /// - Throws: `StoreError` `.shutOut` if only a new start makes this process the host again.
    func run(onChange: @escaping @Sendable () -> Void) async throws
    /// Counts an end that was not written, as its term was over.
    func noteStaleEnd()
    /// What was met of the other hosts.
    var figures: HostFigures { get }
}

/// A part of the work, and how often it has changed hands.
package struct WorkTerm: Sendable, Hashable {
    package let share: Int64
    package let epoch: Int64

    package init(share: Int64, epoch: Int64) {
        self.share = share
        self.epoch = epoch
    }
}
