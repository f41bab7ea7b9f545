#if PostgreSQL
import AgentHost
import Authenticator
import Control
import ControlServer
import Custody
import DurableFiles
import FoundationEssentials
import Journal
import Keys
import LineLog
import PostgresStore
import Records
import SQLiteBackup
import SQLiteStore
import StoreTables
import TextAndTime

/// The move of a state from a PostgreSQL database into a SQLite file.
///
/// The chain of one host continues there.
///
/// The steps are: copy the state to a temporary name, verify the copy, mark the database as moved, and only then rename
/// the file. After an interruption, at most one of the two can be started, and the same command resumes.
struct StateReturn {
    let move: StateMoveSettings

    private var copy: String { "\(move.directory)/\(StateFiles.moving)" }
    /// The new place of the state, as recorded in the database.
    private var place: String { "\(move.file) of host \(move.host.name)" }

    func move() async throws {
        let source: PostgresStore
        do {
            source = try PostgresStore(
                move.database.settings.ofMove, host: move.host, seals: move.seals, dataKeys: move.dataKeys,
                clock: SystemClock(), secrets: move.hostSecrets,
                opening: { try move.auditKeys.isUnderPrevious($0) ? .previous : .present })
        } catch PostgresMoveError.gone(let place) where place == self.place {
            // The move was interrupted after the mark, or is complete. The directory shows which.
            return try conclude()
        } catch let error as PostgresMoveError {
            throw StartError(.dataError, "\(move.database.place): \(error)")
        } catch let error as SecretChangeRefusal {
            throw StartError(.config, "nothing was moved: \(error)")
        } catch is SealError {
            throw StateMoveSettings.wrongSecret
        }
        do {
            try await move(from: source)
        } catch {
            try? source.close()
            throw error
        }
    }

    private func move(from source: PostgresStore) async throws {
        try expectNoState()
        do {
            let starts = try await source.expectAlone()
            try await look(at: source)
            try await copy(from: source)
            try await source.markMoved(to: place, since: starts)
        } catch let error as PostgresMoveError {
            throw StartError(.unavailable, "nothing was moved: \(move.database.place): \(error)")
        } catch let error as StateMoveError {
            throw StartError(.dataError, "nothing was moved: \(error)")
        } catch let error as FileError {
            throw StartError(StartError.Status(error.systemError), "nothing was moved: \(error)")
        }
        try source.close()
        try conclude()
    }

    /// Refuses a directory with a usable state, so that the move never overwrites one.
    private func expectNoState() throws {
        try expectNoUsableDatabase()
        guard StateFiles.tidy(move.directory) else {
            throw StartError(.cannotCreate, "nothing was moved: a restore into \(move.directory) did not finish")
        }
        StateFiles.removeUnfinishedMove(move.directory)
    }

    private func expectNoUsableDatabase() throws {
        let isThere = FileManager.default.fileExists(atPath: move.file)
        guard try !isThere || SQLiteDatabase.movedPlace(of: move.file) != nil else {
            throw StartError(
                .cannotCreate, "nothing was moved: there is a state of an agent in \(move.directory) already")
        }
    }

    /// Verifies the state, records the heads of the other hosts in this host's chain, and exports all journals.
    private func look(at source: PostgresStore) async throws {
        try await move.withAgent(on: source) { agent in
            let count = try await agent.enrollmentCount()
            let limit = move.process.settings.maxEnrollments ?? AgentBounds.standard.enrollments
            guard count <= limit else {
                throw StartError(
                    .dataError,
                    "nothing was moved: there are \(count) enrollments, and an agent on a file has \(limit) at most: "
                        + "see max-enrollments")
            }
            guard try await agent.journal.publicKeyPEM() != nil else {
                throw StartError(
                    .usage,
                    "nothing was moved: host \(move.host.name) has no journal in the database: give the name of a host that "
                        + "has run there (--host-name)")
            }
        }
        try await move.expectWhole(source, "the state in \(move.database.place)")
        try await move.withAgent(on: source) { agent in
            do {
                try await agent.expectOwnHead()
            } catch let error as ForeignHeadError {
                throw StartError(.config, "nothing was moved: \(error)")
            }
            try await agent.recordOtherHosts()
            try await HostJournals(journal: agent.journal).write(into: newJournalDirectory())
        }
    }

    /// A path that does not exist yet: an interrupted move in the same second may have left a directory.
    private func newJournalDirectory() -> String {
        let time = UTCTime.text(SystemClock().now).filter { $0 != "-" && $0 != ":" }
        let first = "\(move.directory)/\(StateFiles.hostJournals)\(time)"
        var (path, number) = (first, 1)
        while FileManager.default.fileExists(atPath: path) {
            number += 1
            path = "\(first)-\(number)"
        }
        return path
    }

    private func copy(from source: PostgresStore) async throws {
        let (move, path) = (move, copy)
        let target = try SQLiteDatabase(path: path, scratch: move.scratch, seals: move.seals, dataKeys: move.dataKeys)
        let now = SystemClock().now
        _ = try await source.withSession { source in
            try target.withWritingSession { session in
                try StateMove(
                    from: source, of: move.host.name, to: session, of: nil, seals: move.seals, dataKeys: move.dataKeys
                ).move { try $0.recordMove(keys: move.auditKeys, at: now) }
            }
        }
        try await move.expectWhole(target, "the copy")
        try target.close()
    }

    /// Renames the copy.
    private func conclude() throws {
        if FileManager.default.fileExists(atPath: copy) {
            try expectNoUsableDatabase()
            // SQLite would replay the WAL of an earlier, moved state into the copy.
            for suffix in ["-wal", "-shm"] { try DurableFile.remove(move.file + suffix) }
            try DurableFile.move(copy, to: move.file)
        }
        guard FileManager.default.fileExists(atPath: move.file), try SQLiteDatabase.movedPlace(of: move.file) == nil
        else {
            throw StartError(
                .dataError, "\(move.database.place) says that the state was moved to \(place), and it is not there")
        }
        StandardStream.error.write(
            """
            Moved to \(move.file), with the keys and all that the hosts kept. The journals of all hosts until now are in \
            \(move.directory), under names that begin with \(StateFiles.hostJournals).
            Next, start the agent without --database and --host-name, and with the same secret. No host starts on \
            \(move.database.place) any more; what it holds is still there.

            """)
    }
}

/// Exports the journals of all hosts at the time of the move, in the form of `oobctl audit`.
private struct HostJournals {
    let journal: JournalReader

    /// Writes a new directory; `verify.json` comes last: an export without it was interrupted.
    func write(into directory: String) async throws {
        try PrivateDirectory.make(at: directory)
        let verdict = AuditView(try await journal.verify(), publicKey: try await journal.publicKeyPEM() ?? "")
        let lines = try FileStream(creating: "\(directory)/journal.jsonl")
        let chains = try await journal.namedChains().map(\.host)
        for host in chains { try await write(host, to: lines, isNamed: chains.count > 1) }
        try lines.synchronize()
        let verify = try ControlJSON.encode(verdict) + [UInt8(ascii: "\n")]
        try DurableFile.write(verify, to: "\(directory)/verify.json", replacing: false)
    }

    private func write(_ host: String, to lines: borrowing FileStream, isNamed: Bool) async throws {
        var place = EventCursor.beginning
        while true {
            let rows = try await journal.entries(after: place, of: host, limit: JournalReader.maxEntries)
            guard let last = rows.last else { return }
            for row in rows {
                let line = isNamed ? AuditLine.line(row.bytes, of: host) : row.bytes
                try lines.write(line + [UInt8(ascii: "\n")])
            }
            place[""] = last.sequence
        }
    }
}
#endif
