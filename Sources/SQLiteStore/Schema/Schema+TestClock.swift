extension Schema {
    /// How many seconds the clock of tests is ahead of the machine's; no row if it was never advanced.
    static let testClock = """
        CREATE TABLE test_clock (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            offset INTEGER NOT NULL CHECK (offset >= 0)
        ) STRICT;
        """
}
