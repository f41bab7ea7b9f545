package import Records

/// The agent in numbers, at one moment; what is counted is counted since it started.
package struct AgentFigures: Sendable {
    /// What the store says of the moment.
    package struct Holdings: Sendable, Equatable {
        package var enrolling = 0
        package var active = 0
        package var suspended = 0
        /// Those for which the agent cannot do its work.
        package var troubled = 0
        /// The same by where the cause is.
        package var troubles: [Trouble.Cause: Int] = [:]
        /// Enrollments whose issuer had accepted a signature that was not made here.
        package var signedElsewhere = 0
        package var pending = 0
        /// How many seconds ago the oldest pending request came; 0 if there is none.
        package var oldestPending: Int64 = 0
        /// Decisions that the issuer has not answered.
        package var queued = 0
        /// How many seconds ago the oldest of them was made; 0 if there is none.
        package var oldestQueued: Int64 = 0
        /// Of the whole database; in a file, without its log.
        package var databaseBytes: Int64 = 0
    }

    package let version: String
    package let hasPersonas: Bool
    /// Seconds since 1970.
    package let startedAt: Int64
    package let isReady: Bool
    package let isStarting: Bool
    package let isStoreHealthy: Bool
    /// Why it is not known whether the database is the newest that this host wrote; nil if it is.
    package var doubts: [Trouble.Cause] = []
    /// Whether the clock is so far ahead of the proven time that nothing is deleted by it.
    package var isClockAhead = false
    /// The number of the newest entry of this host's journal; 0 before the first.
    package var journalHead: Int64 = 0
    /// Whether clients can connect to the control socket.
    package let isSocketThere: Bool
    package let unusableKeys: Int
    package var descriptors = DescriptorFigures()
    /// Nil if nobody knows.
    package var freeDisk: Int64?
    /// Nil if the store cannot be read.
    package let holdings: Holdings?
    package let work: WorkCounts
    /// Messages that were not known before, by the way by which they came.
    package let pushed: Int
    package let polled: Int
    /// Messages that came again.
    package let repeated: Int
    package let refusedPushes: Int
    package let drops: [MessageDrop: Int]
    /// The seconds until an issuer that did not answer is asked again, by its URL.
    package let pauses: [String: Int64]
    /// Nil if the agent has its store to itself.
    package var hosts: HostFigures?
    /// None if the agent is not pushed to.
    package var pushConnections = PortFigures()

    /// Why the agent is not ready: the enrollments that cannot be served, by cause, and 1 for what concerns all.
    ///
    /// Without the enrollments if the store cannot be read.
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
