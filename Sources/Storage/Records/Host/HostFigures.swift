/// What a host that shares its store has met of the others, and of the way to the store, since it started.
package struct HostFigures: Sendable, Equatable {
    /// Shares of the work that this host has taken from another or from nobody.
    package var sharesTaken = 0
    /// Shares that it has given up, or lost to another while it did not renew them.
    package var sharesLost = 0
    /// Ends of deliveries that were not written, as the share was another host's meanwhile.
    package var staleEnds = 0
    /// Writes that gave up waiting for a row which another held.
    package var lockTimeouts = 0
    /// Writes that were run again, as another host's commit came first.
    package var repeatedWrites = 0
    /// Commits whose answer was lost with the connection.
    package var commitsInDoubt = 0
    /// Those of which nobody could say in time whether they were made.
    package var unclearCommits = 0
    /// How many seconds this host's clock is ahead of the store's.
    package var secondsAhead: Int64 = 0

    package init() {}
}
