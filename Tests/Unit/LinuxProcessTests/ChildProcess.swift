import Foundation
import SpawnedProcesses

/// A real second process that runs a Python script until its standard input ends.
final class ChildProcess {
    private let process: SpawnedProcess

    var pid: Int32 { process.pid }
    /// The exit status; only after `end`.
    private(set) var status: Int32?

    init(python script: String, _ arguments: String...) throws {
        process = try SpawnedProcess(["python3", "-c", script] + arguments)
    }

    /// Returns when the script has written something: it is where the test wants it.
    func waitUntilReady() throws {
        _ = try process.output.read(upToCount: 1)
    }

    /// Ends the script and waits until it is gone.
    func end() throws {
        try process.input.close()
        status = process.waitUntilExit()
    }
}
