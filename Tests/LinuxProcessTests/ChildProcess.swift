import Foundation

/// A real second process that runs a Python script until its standard input ends.
final class ChildProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    var pid: Int32 { process.processIdentifier }
    /// The exit status; only after `end`.
    var status: Int32 { process.terminationStatus }

    init(python script: String, _ arguments: String...) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script] + arguments
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
    }

    /// Returns when the script has written something: it is where the test wants it.
    func waitUntilReady() throws {
        _ = try output.fileHandleForReading.read(upToCount: 1)
    }

    /// Ends the script and waits until it is gone.
    func end() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}

/// A directory of one test, removed when the last reference goes.
final class ScratchDirectory {
    let path = NSTemporaryDirectory() + "linux-process-tests-" + UUID().uuidString

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
