/// Figures of a host that shares its store, since its start: the other hosts and the connection to the store.
package struct HostFigures: Sendable, Equatable {
    /// Shares of the work that this host took from another host, or that had no host.
    package var sharesTaken = 0
    /// Shares that it gave up, or lost to another host because it did not renew them.
    package var sharesLost = 0
    /// Ends of deliveries that were not written, because another host had the share by then.
    package var staleEnds = 0
    /// Writes that timed out waiting for a locked row.
    package var lockTimeouts = 0
    /// Writes that were run again, because another host committed first.
    package var repeatedWrites = 0
    /// Commits whose result was lost with the connection.
    package var commitsInDoubt = 0
    /// Commits in doubt whose result was still unknown at the deadline.
    package var unclearCommits = 0
    /// Seconds by which this host's clock is ahead of the store's.
    package var secondsAhead: Int64 = 0

    package init() {}
}
