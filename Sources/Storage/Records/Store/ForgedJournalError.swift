/// The journal in the database is not the one that this agent wrote.
package struct ForgedJournalError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong with it; a clause.
    package let description: String

    package init(_ description: String) { self.description = description }
}
