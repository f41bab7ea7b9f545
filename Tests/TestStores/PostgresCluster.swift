#if PostgreSQL
import Foundation
import Glibc
package import PostgresStore
import SpawnedProcesses
import Synchronization

/// A PostgreSQL server of this test process alone, in a directory of its own and on a socket there.
package final class PostgresCluster: Sendable {
    package struct NotStartedError: Error, CustomStringConvertible {
        package let description: String
    }

    private static let one = Mutex<PostgresCluster?>(nil)
    /// Where Debian has the programs of version 15, which stand in no PATH.
    private static let programs = "/usr/lib/postgresql/15/bin"

    private let process: SpawnedProcess
    private let directory: String
    private let databases = Mutex<[String: String]>([:])

    /// The process's server, which is started at its first use.
    package static func shared() throws -> PostgresCluster {
        try one.withLock { one in
            if let one { return one }
            let started = try PostgresCluster()
            one = started
            return started
        }
    }

    /// The server ends when this process does, however that ends: its shell waits for the end of a pipe.
    private init() throws {
        // Not below a directory that only root may enter: the server's user is another one.
        directory = "/tmp/oob-pg-\(UUID().uuidString.prefix(8).lowercased())"
        let user = geteuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --clear-groups" : ""
        let script = """
            set -e
            umask 077
            mkdir \(directory)
            \(geteuid() == 0 ? "chown postgres \(directory)" : ":")
            cd \(directory)
            \(user) \(Self.programs)/initdb -D \(directory)/data -U oob -A trust --no-sync -E UTF8 --locale=C >initdb.log 2>&1
            \(user) \(Self.programs)/postgres -D \(directory)/data -c listen_addresses= \\
                -c unix_socket_directories=\(directory) -c max_connections=4000 -c shared_buffers=64MB \\
                -c log_min_messages=fatal >server.log 2>&1 &
            server=$!
            echo started
            cat >/dev/null
            kill -QUIT $server
            wait $server || true
            rm -rf \(directory)
            """
        process = try SpawnedProcess(["/bin/sh", "-c", script])
        guard try process.output.read(upToCount: 7) == Data("started".utf8) else {
            throw NotStartedError(description: "no PostgreSQL 15 in \(Self.programs), or no user postgres")
        }
        try waitUntilItAnswers()
    }

    /// How the database of this name is reached.
    package func settings(of database: String) throws -> PostgresSettings {
        // Hundreds of tests ask it at once, and other work may have the cores.
        var limits = PostgresLimits()
        (limits.connecting, limits.answer) = (.seconds(300), .seconds(300))
        return PostgresSettings(url: try PostgresURL("postgres://oob@/\(database)?host=\(directory)"), limits: limits)
    }

    /// The same of the one that belongs to a path, which is made if there is none.
    package func settings(ofDatabaseFor path: String) throws -> PostgresSettings {
        let name = try databases.withLock { databases in
            if let name = databases[path] { return name }
            let name = "d\(databases.count)"
            let connection = try settings(of: "postgres").connection()
            _ = try connection.rows("CREATE DATABASE \(name) TEMPLATE template0")
            databases[path] = name
            return name
        }
        return try settings(of: name)
    }

    private func waitUntilItAnswers() throws {
        for _ in 0..<600 {
            if (try? settings(of: "postgres").connection()) != nil { return }
            usleep(50_000)
        }
        throw NotStartedError(description: "the server in \(directory) does not answer")
    }
}
#endif
