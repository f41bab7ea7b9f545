#if PostgreSQL
import Foundation
import Glibc
package import PostgresStore
import SpawnedProcesses
import Synchronization
import TableRows

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
    private let databases = Mutex<(names: [String: String], made: Int)>(([:], 0))

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
    ///
    /// A signal to the whole session does not keep it from removing the directory, which may be in memory.
    private init() throws {
        // Not below a directory that only root may enter: the server's user is another one.
        directory = "\(Self.root())/oob-pg-\(UUID().uuidString.prefix(8).lowercased())"
        let user = geteuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --clear-groups" : ""
        let script = """
            set -e
            trap : INT TERM
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
            cat >/dev/null || true
            kill -QUIT $server || true
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

    /// The same of the database that belongs to a path.
    ///
    /// If there is none, one of a test that is over is emptied, or else a new one is made, which takes the server longer.
    /// With 128 tests at once there are 100 databases, of 2 GB in all; a new one for each test made 1,190, of 16 GB.
    package func settings(ofDatabaseFor path: String) throws -> PostgresSettings {
        let name = try databases.withLock { databases in
            if let name = databases.names[path] { return name }
            databases.made += 1
            let name = "d\(databases.made)"
            let connection = try settings(of: "postgres").connection()
            // A rename would wait 5 s for those who still use the database. One of the next tests will have it.
            let used = try connection.rows("SELECT DISTINCT coalesce(datname::text, '') FROM pg_stat_activity")
                .flatMap(\.self)
            let over = databases.names.filter { path, old in Self.isOver(path) && !used.contains(.text(old)) }
            if let old = over.first(where: { _, old in Self.rename(old, to: name, connection) }) {
                databases.names[old.key] = nil
                try empty(name)
            } else {
                _ = try connection.rows("CREATE DATABASE \(name) TEMPLATE template0")
            }
            databases.names[path] = name
            return name
        }
        return try settings(of: name)
    }

    /// Whether a test has removed the directory in which its store would be.
    private static func isOver(_ path: String) -> Bool {
        path.hasPrefix("/") && !FileManager.default.fileExists(atPath: (path as NSString).deletingLastPathComponent)
    }

    /// An agent that outlives its test does not find its database under the new name.
    private static func rename(_ old: String, to name: String, _ connection: PostgresConnection) -> Bool {
        (try? connection.rows("ALTER DATABASE \(old) RENAME TO \(name)")) != nil
    }

    private func empty(_ name: String) throws {
        let connection = try settings(of: name).connection()
        _ = try connection.rows("DROP SCHEMA public CASCADE")
        _ = try connection.rows("CREATE SCHEMA public")
    }

    /// A file system in memory if it has 8 GB to spare, as the databases take up to 3 GB and no test here cuts the power.
    private static func root() -> String {
        let memory = try? FileManager.default.attributesOfFileSystem(forPath: "/dev/shm")
        guard let free = memory?[.systemFreeSize] as? NSNumber, free.int64Value >= 8_000_000_000 else { return "/tmp" }
        return "/dev/shm"
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
