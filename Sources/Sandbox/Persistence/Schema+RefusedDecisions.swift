extension Schema {
    /// A problem's status and code as they were answered.
    static let refusedDecisions = """
        CREATE TABLE refusedDecision (
            id INTEGER PRIMARY KEY, jti TEXT NOT NULL REFERENCES authnRequest, at INTEGER NOT NULL,
            status INTEGER NOT NULL, code TEXT, detail TEXT NOT NULL) STRICT;
        CREATE INDEX refusedDecisionByJTI ON refusedDecision(jti);
        """
}
