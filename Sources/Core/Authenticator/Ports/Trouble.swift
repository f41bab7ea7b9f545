/// Reason why the agent, or one enrollment, cannot work.
package struct Trouble: Sendable {
    let cause: Cause
    /// A text for a person.
    let text: String

    init(_ cause: Cause, _ text: String) {
        self.cause = cause
        self.text = text
    }
}

extension Trouble {
    /// Cause of a trouble, as metrics show it: alerts distinguish the agent's own faults from an issuer's.
    package enum Cause: String, CaseIterable, Sendable {
        /// Not all keys have been tested since the start.
        case starting
        case database
        /// The head note is missing or unreadable, though this host has entries.
        case headMissing
        /// The database is older than this host's head note.
        case restored
        /// Rows of enrollments differ from the newest state that the agent wrote.
        case rowsChanged
        /// The machine's clock is far ahead of the time that is proven to have passed.
        case clockAhead
        /// The process has reached its limit of open files.
        case descriptors
        /// The control socket was removed, and cannot be created again.
        case socket
        /// A key, an access token or an enrollment's row cannot be used.
        case key
        /// The issuer cannot be reached, or its answers are wrong.
        case issuer
        /// The issuer no longer knows the enrollment.
        case suspended
    }
}
