/// Why the agent cannot do its work, or not for an enrollment.
package struct Trouble: Sendable {
    let cause: Cause
    /// Words for a person.
    let text: String

    init(_ cause: Cause, _ text: String) {
        self.cause = cause
        self.text = text
    }
}

extension Trouble {
    /// Where the cause is, as metrics have it: alerts tell the agent's own trouble from an issuer's.
    package enum Cause: String, CaseIterable, Sendable {
        /// Not all keys have been looked at since the start.
        case starting
        case database
        /// No readable head is noted outside the database, though this host has entries.
        case headMissing
        /// The database is older than this host's noted head.
        case restored
        /// Rows of enrollments are not those that the agent wrote last.
        case rowsChanged
        /// The machine's clock is far ahead of the time that is proven to have passed.
        case clockAhead
        /// The process has as many files open as it may.
        case descriptors
        /// The control socket was removed, and cannot be made anew.
        case socket
        /// A key, or a token that the agent keeps, or an enrollment's row, cannot be used.
        case key
        /// It cannot be reached, or does not answer as it should.
        case issuer
        /// The issuer no longer knows the enrollment.
        case suspended
    }
}
