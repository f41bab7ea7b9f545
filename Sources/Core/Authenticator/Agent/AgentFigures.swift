package import Records

/// Figures of the agent at one moment.
///
/// Counters start at the agent's start.
package struct AgentFigures: Sendable {
    /// The figures that are read from the store.
    package struct Holdings: Sendable, Equatable {
        package var enrolling = 0
        package var active = 0
        package var suspended = 0
        /// Enrollments that the agent cannot serve.
        package var troubled = 0
        /// The same enrollments by cause.
        package var troubles: [Trouble.Cause: Int] = [:]
        /// Enrollments whose issuer had accepted a signature that was not made here.
        package var signedElsewhere = 0
        package var pending = 0
        /// The age of the oldest pending request in seconds, or 0 if there is none.
        package var oldestPending: Int64 = 0
        /// Decisions that the issuer has not answered.
        package var queued = 0
        /// The age of the oldest of these decisions in seconds, or 0 if there is none.
        package var oldestQueued: Int64 = 0
        /// The size of the whole database; of a file, without its log.
        package var databaseBytes: Int64 = 0
    }

    package let version: String
    package let hasPersonas: Bool
    /// Seconds since 1970.
    package let startedAt: Int64
    package let isReady: Bool
    package let isStarting: Bool
    package let isStoreHealthy: Bool
    /// Reasons to doubt that the database is the newest that this host wrote.
    ///
    /// Empty if it is.
    package var doubts: [Trouble.Cause] = []
    /// Whether deletion by age has stopped, because the clock is too far ahead of the proven time.
    package var isClockAhead = false
    /// The number of the newest entry of this host's journal, or 0 before the first.
    package var journalHead: Int64 = 0
    /// Whether clients can connect to the control socket.
    package let isSocketThere: Bool
    package let unusableKeys: Int
    package var descriptors = DescriptorFigures()
    /// The free bytes on the state directory's disk, or `nil` if they are not known.
    package var freeDisk: Int64?
    /// The figures of the store, or `nil` if it cannot be read.
    package let holdings: Holdings?
    package let work: WorkCounts
    /// New messages that came by push; ``polled`` counts the polled messages.
    package let pushed: Int
    package let polled: Int
    /// Messages that came again.
    package let repeated: Int
    package let refusedPushes: Int
    package let drops: [MessageDrop: Int]
    /// Seconds until an issuer that did not answer is asked again, by the issuer's URL.
    package let pauses: [String: Int64]
    /// The figures of the hosts that share the store, or `nil` if the agent has the store to itself.
    package var hosts: HostFigures?
    /// The connections of the push port; all 0 if the agent receives no pushes.
    package var pushConnections = PortFigures()

    /// Reasons why the agent is not ready: the numbers of enrollments that it cannot serve, by cause.
    ///
    /// A cause that concerns all has the number 1. Without the enrollments if the store cannot be read.
    package var notReady: [Trouble.Cause: Int] {
        let own: [Trouble.Cause: Int] = [
            .starting: isStarting ? 1 : 0, .database: isStoreHealthy ? 0 : 1, .socket: isSocketThere ? 0 : 1,
            .descriptors: descriptors.shortage == nil ? 0 : 1, .clockAhead: isClockAhead ? 1 : 0,
            .headMissing: doubts.contains(.headMissing) ? 1 : 0, .restored: doubts.contains(.restored) ? 1 : 0,
            .rowsChanged: doubts.contains(.rowsChanged) ? 1 : 0,
        ]
        guard let holdings else { return own }
        let of: [Trouble.Cause] = [.key, .issuer, .suspended]
        return own.merging(of.map { ($0, holdings.troubles[$0] ?? 0) }) { own, _ in own }
    }
}
