import Testing

/// What goes wrong in operation, and what an operator does.
@Suite struct OperationsScripts {
    @Test func `a crash at any point loses no promise`() async throws {
        try await OutsideScript.run("test_crashes.py")
    }

    @Test func `the agent survives trouble with its database`() async throws {
        try await OutsideScript.run("test_database.py")
    }

    @Test func `the agent lives with an issuer that fails`() async throws {
        try await OutsideScript.run("test_faults.py")
    }

    @Test func `output that nobody reads holds nothing up`() async throws {
        try await OutsideScript.run("test_unread_log.py")
    }

    @Test func `the agent tells a service manager its state, and reads its files anew on a hang-up`() async throws {
        try await OutsideScript.run("test_supervised.py")
    }

    @Test func `the pages on operations and monitoring say what the programs do`() async throws {
        try await OutsideScript.run("test_operations.py")
    }
}
