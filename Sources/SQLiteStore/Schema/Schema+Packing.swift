extension Schema {
    /// Entries of the journal that are no longer among the newest, in blocks, and which of them are about a request.
    ///
    /// - `first` and `last`: the numbers of the block's entries; the last one's `digest`, the digests of `earlier`
    ///   checkpoints and the `signature` are the block's checkpoint.
    /// - `block`: the `last` of a block. It may be one that was removed for its age: these rows go with their request.
    static let journalBlocks = """
        CREATE TABLE journal_block (
            last INTEGER PRIMARY KEY,
            first INTEGER NOT NULL,
            digest BLOB NOT NULL,
            earlier BLOB NOT NULL,
            signature BLOB NOT NULL,
            entries BLOB NOT NULL
        ) STRICT;

        CREATE TABLE journal_of_request (
            request_seq INTEGER NOT NULL,
            block INTEGER NOT NULL,
            PRIMARY KEY (request_seq, block)
        ) STRICT, WITHOUT ROWID;
        """

    /// What is kept of requests that are over besides what they are found by, and the keys that their issuers had.
    ///
    /// A request that is packed has an empty `message` and, if it was presented, empty `members`. These rows have no
    /// reference that goes with the request's row: it is written anew when it is packed.
    static let pastRequests = """
        CREATE TABLE past_request (
            request_seq INTEGER PRIMARY KEY,
            content BLOB NOT NULL
        ) STRICT;

        CREATE TABLE issuer_key (
            id INTEGER PRIMARY KEY,
            key BLOB NOT NULL UNIQUE
        ) STRICT;

        CREATE INDEX request_unpacked ON request (seq)
            WHERE state <> 'pending' AND delivery <> 'queued' AND message <> '';
        """
}
