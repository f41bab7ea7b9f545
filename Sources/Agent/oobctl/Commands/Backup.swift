import ArgumentParser
import Control
import Glibc

struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Write a consistent copy of the agent's state, taken while it runs.",
        discussion: """
            The copy is one SQLite database with a manifest in it. The keys in it are encrypted, and the agent's secret \
            is not in it. To make a state of a copy, use `oob-agent --restore FILE`.
            """)

    @Argument(help: "The file, or - for standard output.", completion: .file())
    var file: String

    @Flag(help: "Replace a file that is there.")
    var force = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard !file.isEmpty else { throw ValidationError("A file needs a name.") }
        if file == "-", isatty(STDOUT_FILENO) == 1 {
            throw ValidationError("A database is not written to a terminal: name a file.")
        }
    }

    func run() async throws {
        try await common.withAgent { client, output throws(ClientError) in
            guard file != "-" else {
                try await client.backup { bytes throws(ClientError) in try output.bytes(bytes) }
                return .done
            }
            let result = BackupView(file: file, bytes: try await write(to: file, by: client))
            try output.data(result) { _ in "" }
            output.message(
                "Wrote \(result.bytes) bytes to \(file). The agent's secret is not in it: keep that elsewhere.")
            return .done
        }
    }

    /// Writes the backup and returns its size; if it is incomplete, removes the file.
    private func write(to path: String, by client: ControlClient) async throws(ClientError) -> Int {
        let file = try NewFile(path, replacing: force)
        var bytes = 0
        try await client.backup { piece throws(ClientError) in
            try file.write(piece)
            bytes += piece.count
        }
        try file.keep()
        return bytes
    }
}

/// The output of `backup --json`.
private struct BackupView: Encodable {
    let file: String
    let bytes: Int
}
