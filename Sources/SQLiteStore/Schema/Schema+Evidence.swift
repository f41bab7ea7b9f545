extension Schema {
    /// What of a request is kept only for a dispute; it goes with the request.
    static let evidence = """
        CREATE TABLE evidence (
            request_seq INTEGER PRIMARY KEY REFERENCES request (seq) ON DELETE CASCADE,
            issuer_key BLOB,
            text TEXT,
            decision BLOB
        ) STRICT
        """
}
