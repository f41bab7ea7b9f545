#if PostgreSQL
import Foundation
import Glibc
import TableRows
import TestStores
import Testing

@testable import PostgresStore

/// A connection to a real server: values, pipelines, errors in them, and waits that end.
@Suite(.timeLimit(.minutes(20)))
struct PostgresConnectionTests {
    private func connected(_ change: (inout PostgresLimits) -> Void = { _ in }) throws -> PostgresConnection {
        var limits = PostgresLimits()
        change(&limits)
        let url = try PostgresCluster.shared().settings(of: "postgres").url
        return try PostgresConnection.connect(to: url, limits: limits)
    }

    @Test(arguments: [
        ColumnValue.number(.max), .number(.min), .number(0), .text(""), .text("Dæmø \u{202E}'\";--"), .bytes([]),
        .bytes([0, 255, 39, 92]), .null,
    ])
    func `a value comes back as it went`(value: ColumnValue) throws {
        let type =
            switch value {
            case .number: "BIGINT"
            case .bytes: "BYTEA"
            default: "TEXT"
            }
        #expect(try connected().rows("SELECT CAST(? AS \(type))", [value]) == [[value]])
    }

    @Test func `a text with a null byte is refused and never cut there`() throws {
        let failure = #expect(throws: PostgresError.self) {
            try connected().rows("SELECT CAST(? AS TEXT)", [.text("a\u{0}b")])
        }
        #expect(failure?.state == "22021" && failure?.isConnectionLost == false)
    }

    @Test func `a number is whatever the server wants there`() throws {
        let rows = try connected().rows(
            "SELECT 1 WHERE CAST(? AS BOOLEAN) AND 5 > ? LIMIT ?", [.number(1), .number(4), .number(9)])
        #expect(rows == [[.number(1)]])
    }

    @Test func `what was queued is answered in order, and an error undoes what was sent with it`() throws {
        let connection = try connected()
        try connection.queue("CREATE TEMPORARY TABLE kept (number BIGINT UNIQUE)")
        for number in 1...50 { try connection.queue("INSERT INTO kept VALUES (?)", [.number(Int64(number))]) }
        try connection.queue("SELECT COUNT(*) FROM kept")
        #expect(try connection.answers().last?.rows == [[.number(50)]])
        try connection.queue("INSERT INTO kept VALUES (?)", [.number(51)])
        try connection.queue("INSERT INTO kept VALUES (?)", [.number(1)])
        try connection.queue("INSERT INTO kept VALUES (?)", [.number(52)])
        let failure = #expect(throws: PostgresError.self) { try connection.answers() }
        #expect(failure?.isDuplicate == true && failure?.constraint == "kept_number_key")
        #expect(failure?.message.contains("51") == false)
        #expect(try connection.rows("SELECT COUNT(*) FROM kept") == [[.number(50)]])
    }

    @Test func `in a database transaction an error leaves nothing but its end`() throws {
        let connection = try connected()
        _ = try connection.rows("CREATE TEMPORARY TABLE kept (number BIGINT)")
        try connection.queue("BEGIN")
        try connection.queue("INSERT INTO kept VALUES (1)")
        #expect(throws: PostgresError.self) { try connection.rows("SELECT nothing FROM nowhere") }
        #expect(throws: PostgresError.self) { try connection.rows("SELECT 1") }
        _ = try connection.rows("ROLLBACK")
        #expect(try connection.rows("SELECT COUNT(*) FROM kept") == [[.number(0)]])
    }

    @Test func `as many statements are kept parsed as it may, and others work too`() throws {
        for limit in [0, 3] {
            let connection = try connected { $0.keptStatements = limit }
            for number in 1...6 {
                for _ in 1...2 { #expect(try connection.rows("SELECT \(number)") == [[.number(Int64(number))]]) }
            }
            #expect(connection.keptStatements == limit)
            let kept = try connection.rows("SELECT COUNT(*) FROM pg_prepared_statements")
            #expect(kept == [[.number(Int64(limit))]])
        }
    }

    @Test func `a server that stands still is not waited for longer than was said`() throws {
        let connection = try connected()
        connection.answerTimeout = .milliseconds(300)
        let process = connection.serverProcess
        #expect(kill(process, SIGSTOP) == 0)
        defer { kill(process, SIGCONT) }
        let failure = #expect(throws: PostgresError.self) { try connection.rows("SELECT 1") }
        #expect(failure?.isConnectionLost == true && connection.isBroken)
        #expect(failure?.message == "the server did not answer in time")
        let again = #expect(throws: PostgresError.self) { try connection.rows("SELECT 1") }
        #expect(again?.isConnectionLost == true)
    }

    @Test func `a server that ends the connection is noticed, and says why`() throws {
        let connection = try connected()
        _ = try connected().rows(
            "SELECT pg_terminate_backend(CAST(? AS INTEGER))", [.number(Int64(connection.serverProcess))])
        let failure = #expect(throws: PostgresError.self) { try connection.rows("SELECT 1") }
        #expect(failure?.isConnectionLost == true && connection.isBroken)
    }

    @Test func `a connection that the server has ended is known as such without asking it`() throws {
        let connection = try connected()
        #expect(try connection.rows("SELECT 1") == [[.number(1)]] && !connection.isClosedByServer)
        try connection.queue("SELECT 2")
        try connection.flush()
        let other = try connected()
        let process = ColumnValue.number(Int64(connection.serverProcess))
        _ = try other.rows("SELECT pg_terminate_backend(CAST(? AS INTEGER), 10000)", [process])
        #expect(connection.isClosedByServer && connection.isBroken)
        #expect(!other.isClosedByServer)
    }

    @Test func `the environment has no say in where it connects`() async throws {
        await #expect(processExitsWith: .success) {
            // The server itself would read some of them.
            let url = try PostgresCluster.shared().settings(of: "postgres").url
            for (name, value) in [
                "PGHOST": "/nonexistent", "PGPORT": "1", "PGUSER": "nobody", "PGDATABASE": "nothing",
                "PGSSLMODE": "require", "PGOPTIONS": "-c statement_timeout=1",
                "PGAPPNAME": "other",
            ] {
                #expect(unsafe setenv(name, value, 1) == 0)
            }
            let rows = try PostgresConnection.connect(to: url).rows(
                "SELECT current_user, current_database(), current_setting('application_name')")
            #expect(rows == [[.text("oob"), .text("postgres"), .text("oob-agent")]])
        }
    }

    @Test func `a variable that would have a say all the same is refused by its name`() async throws {
        await #expect(processExitsWith: .success) {
            let url = try PostgresCluster.shared().settings(of: "postgres").url
            for name in ["PGPASSWORD", "PGHOSTADDR", "PGSERVICE"] {
                #expect(unsafe setenv(name, "x", 1) == 0)
                let failure = #expect(throws: PostgresError.self) { try PostgresConnection.connect(to: url) }
                #expect(failure?.message.contains(name) == true)
                #expect(unsafe unsetenv(name) == 0)
            }
        }
    }

    @Test(arguments: [
        ("SELECT ?, ?", "SELECT $1, $2"), ("SELECT ?2, ?1, ?", "SELECT $2, $1, $3"),
        ("SELECT '?', ?, \"?\"", "SELECT '?', $1, \"?\""),
    ])
    func `placeholders are numbered as SQLite numbers them, and not inside quotation marks`(
        sql: String, text: String
    ) throws {
        #expect(try Placeholders(sql).text == text)
        for wrong in ["SELECT ?0", "SELECT ?65536", "SELECT ?123456"] {
            #expect(throws: PostgresError.self) { try Placeholders(wrong) }
        }
    }
}
#endif
