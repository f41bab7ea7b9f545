import ArgumentParser
import LinuxProcess
import Sandbox

/// The only place that prints: data on standard output, messages on standard error.
let output = ProgramOutput(of: "oob-issuer")

extension ExitCode {
    /// EX_UNAVAILABLE of sysexits.h.
    static let unavailable = ExitCode(69)
}

/// Runs a call to a sandbox, and makes one sentence and an exit status of its failure.
func reporting<Value>(_ call: () async throws(SandboxClient.CallError) -> Value) async throws -> Value {
    do throws(SandboxClient.CallError) {
        return try await call()
    } catch {
        output.message(FlagNames.inPlace(of: error.description))
        switch error {
        case .unreachable: throw ExitCode.unavailable
        case .refused: throw ExitCode.failure
        }
    }
}
