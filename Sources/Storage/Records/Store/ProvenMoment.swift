/// The proven time as stored.
package struct ProvenMoment: Sendable, Equatable {
    /// Seconds since 1970.
    package var at: Int64
    /// The number of times that a person has set it; a set time takes precedence over all earlier ones.
    package var acceptances: Int64

    package init(at: Int64, acceptances: Int64 = 0) {
        self.at = at
        self.acceptances = acceptances
    }

    package func isLater(than other: ProvenMoment) -> Bool {
        (acceptances, at) > (other.acceptances, other.at)
    }
}
