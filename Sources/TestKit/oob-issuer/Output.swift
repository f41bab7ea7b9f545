import ArgumentParser
import LinuxProcess
import Sandbox

/// The program's output: data on standard output, messages on standard error.
///
/// No other code prints.
let output = ProgramOutput(of: "oob-issuer")

extension ExitCode {
    /// EX_UNAVAILABLE of sysexits.h.
    static let unavailable = ExitCode(69)
}

/// Calls a sandbox, and turns a failure into one message and an exit status.
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
