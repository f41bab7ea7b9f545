import Foundation

/// A real second process that runs a Python script until its standard input ends.
package final class ChildProcess {
    private let process: SpawnedProcess

    package var pid: Int32 { process.pid }
    /// The exit status; only after `end`.
    package private(set) var status: Int32?

    package init(python script: String, _ arguments: String...) throws {
        process = try SpawnedProcess(["python3", "-c", script] + arguments)
    }

    /// Returns when the script has written something: it is where the test wants it.
    package func waitUntilReady() throws {
        _ = try process.output.read(upToCount: 1)
    }

    /// Ends the script and waits until it is gone.
    package func end() throws {
        try process.input.close()
        status = process.waitUntilExit()
    }
}
