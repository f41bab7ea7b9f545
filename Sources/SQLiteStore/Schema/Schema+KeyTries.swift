extension Schema {
    /// The seal of a key's tries; null until the agent seals what was there before.
    static let sealedTries = "ALTER TABLE key_tries ADD COLUMN tries_seal BLOB"
}
