import StrictJSON

extension JournalEntry {
    /// The text of one of its own members.
    package func text(_ name: String) -> String? { try? json.optionalString(name) }

    /// The number of one of its own members.
    package func number(_ name: String) -> Int64? { try? json.optionalInteger(name) }
}
