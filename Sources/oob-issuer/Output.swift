import ArgumentParser
import Foundation
import Glibc
import Sandbox

/// The only place that prints: data on standard output, messages on standard error.
enum Output {
    /// Keeps what is opened later from the number of a standard stream that is closed; to be called first.
    ///
    /// Else that file gets what is written to the stream. As it is, writing to the stream goes on to fail.
    static func keepClosedStreams() {
        for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) == -1 {
            // open(2) takes the lowest number that is free.
            _ = unsafe open("/dev/null", O_RDONLY)
        }
    }

    /// One line, which is out when the call returns, also into a pipe.
    ///
    /// - Throws: the exit status, if it cannot be written; that is said.
    static func data(_ line: String) throws(ExitCode) {
        do {
            try FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
        } catch {
            message("standard output cannot be written")
            throw .failure
        }
    }

    static func message(_ sentence: String) {
        try? FileHandle.standardError.write(contentsOf: Data("oob-issuer: \(sentence)\n".utf8))
    }
}

extension ExitCode {
    /// EX_UNAVAILABLE of sysexits.h.
    static let unavailable = ExitCode(69)
}

/// Runs a call to a sandbox, and makes one sentence and an exit status of its failure.
func reporting<Value>(_ call: () async throws(SandboxClient.CallError) -> Value) async throws -> Value {
    do throws(SandboxClient.CallError) {
        return try await call()
    } catch {
        Output.message(FlagNames.inPlace(of: error.description))
        switch error {
        case .unreachable: throw ExitCode.unavailable
        case .refused: throw ExitCode.failure
        }
    }
}
