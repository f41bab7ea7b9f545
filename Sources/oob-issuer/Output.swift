import ArgumentParser
import Foundation
import Sandbox

/// The only place that prints: data on standard output, messages on standard error.
enum Output {
    /// One line, which is out when the call returns, also into a pipe.
    static func data(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
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
func reporting<Value>(_ call: () async throws(SandboxClient.Failure) -> Value) async throws -> Value {
    do throws(SandboxClient.Failure) {
        return try await call()
    } catch {
        Output.message(error.description)
        switch error {
        case .unreachable: throw ExitCode.unavailable
        case .refused: throw ExitCode.failure
        }
    }
}
