extension Schema {
    /// In whose chain of the journal an enrollment's ``seals`` entry is; always null in a store of one chain.
    static let journalHost = "ALTER TABLE enrollment ADD COLUMN journal_host TEXT"
}
