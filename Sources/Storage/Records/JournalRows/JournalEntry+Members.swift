import StrictJSON

extension JournalEntry {
    /// Returns the text in a member of the entry.
    package func text(_ name: String) -> String? { try? json.optionalString(name) }

    /// Returns the number in a member of the entry.
    package func number(_ name: String) -> Int64? { try? json.optionalInteger(name) }
}
