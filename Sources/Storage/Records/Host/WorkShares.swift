/// The shares of enrollments that each of several hosts with one store polls and delivers for.
///
/// Shares save work, but safety does not depend on them. If two hosts treat an enrollment as theirs at the same time,
/// they do the same work twice. The store and the protocol give both the same answer.
package protocol WorkShares: Sendable {
    /// Returns the term in which this host polls and delivers for an enrollment, or `nil` if it does not.
    func term(of id: EnrollmentID) -> WorkTerm?
    /// Keeps this host's shares until the task is cancelled.
    ///
    /// - Parameter onChange: called after ``term(of:)`` has changed for some enrollments.
    /// - Throws: `StoreError` `.shutOut` if the process must be restarted to become the host again.
    func keep(onChange: @escaping @Sendable () -> Void) async throws
    /// Counts an end of a delivery that was not written, because its term had ended.
    func noteStaleEnd()
    /// Figures about the other hosts.
    var figures: HostFigures { get }
}

/// A share of the work, and the number of times that it has changed hosts.
package struct WorkTerm: Sendable, Hashable {
    package let share: Int64
    package let epoch: Int64

    package init(share: Int64, epoch: Int64) {
        self.share = share
        self.epoch = epoch
    }
}
