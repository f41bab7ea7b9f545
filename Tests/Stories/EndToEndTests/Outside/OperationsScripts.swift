import Testing

/// What goes wrong in operation, and what an operator does.
@Suite struct OperationsScripts {
    @Test func `a crash at any point loses no promise`() async throws {
        try await OutsideScript.run("test_crashes.py")
    }

    @Test func `the pictures of the pages are drawn anew, and hostile names do no harm in them`() async throws {
        try await OutsideScript.run("test_diagrams.py")
    }

    @Test func `the question for many enrollments comes once, and purchases start when they are due`() async throws {
        try await OutsideScript.run("test_fleet.py")
    }

    @Test func `the tests on the pages of personas pass`() async throws {
        try await OutsideScript.run("test_personas.py")
    }

    @Test func `the prompt says that the clock is a test's, and an advance ends a suspension`() async throws {
        try await OutsideScript.run("test_clock.py")
    }

    @Test func `the agent tells a service manager its state, and reads its files anew on a hang-up`() async throws {
        try await OutsideScript.run("test_supervised.py")
    }

    @Test func `the pages on operations and monitoring say what the programs do`() async throws {
        try await OutsideScript.run("test_operations.py")
    }

    @Test func `agents of several hosts share one PostgreSQL`() async throws {
        try await OutsideScript.run("test_postgres_hosts.py")
    }

    @Test func `nobody is told of a commit that the synchronous standby does not have`() async throws {
        try await OutsideScript.run("test_postgres_standby.py")
    }

    @Test func `nothing is lost or done twice whatever happens to several hosts and their database`() async throws {
        try await OutsideScript.run("test_host_crashes.py")
    }

    @Test func `an older database is noticed, and a head that is missing`() async throws {
        try await OutsideScript.run("test_heads.py")
    }

    @Test func `a move that dies anywhere leaves at most one state that can be started`() async throws {
        try await OutsideScript.run("test_move_crashes.py")
    }

    @Test func `several hosts reach their database through PgBouncer`() async throws {
        try await OutsideScript.run("test_pgbouncer.py")
    }

    @Test func `what the agent asks PostgreSQL for is found by index, whatever the store holds`() async throws {
        try await OutsideScript.run("test_postgres_fleet.py")
    }
}
