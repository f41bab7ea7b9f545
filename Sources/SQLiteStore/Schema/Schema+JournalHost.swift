extension Schema {
    /// In whose chain of the journal an enrollment's ``seals`` entry is; always null in a store of one chain.
    static let journalHost = "ALTER TABLE enrollment ADD COLUMN journal_host TEXT"
}

extension Schema {
    /// The key of an enrollment, sealed, where the store keeps it; null: it is in a key file, or not the agent's own.
    static let sealedKey = "ALTER TABLE enrollment ADD COLUMN sealed_key BLOB"
}
