/// The error for a journal in the database that differs from what this agent wrote.
package struct ForgedJournalError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The fault, as a clause.
    package let description: String

    package init(_ description: String) { self.description = description }
}
