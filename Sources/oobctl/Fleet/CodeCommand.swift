import Control
import LinuxProcess

/// The command that prints an enrollment's code or link: `/bin/sh -c COMMAND`, once for each enrollment.
///
/// Its standard input is empty, its standard error is oobctl's, and `OOB_ENROLLMENT_NAME` is the name of the enrollment.
struct CodeCommand: Sendable {
    static let deadlines = 1...600
    static let maxOutput = 4_096

    let command: String
    /// How long one run may take.
    let seconds: Int

    /// Runs it; if the task is cancelled it is killed.
    ///
    /// - Returns: the line that it printed, without its end.
    /// - Throws: `ClientError` that says what it did: its exit status, a signal, no line, several, or no end in time.
    func line(for name: String) async throws(ClientError) -> String {
        do {
            let output = try ShellRun(command, variables: ["OOB_ENROLLMENT_NAME": name])
            return try await withTaskCancellationHandler {
                try await OwnThread.run { try read(output) }
            } onCancel: {
                output.kill()
            }
        } catch let error as ClientError {
            throw error
        } catch {
            throw Self.failure("cannot be started: \(error)")
        }
    }

    private func read(_ output: ShellRun) throws(ClientError) -> String {
        let end = ContinuousClock.now + .seconds(seconds)
        let bytes = output.bytes(upTo: Self.maxOutput, until: end)
        guard let bytes else {
            output.kill()
            _ = output.status(until: end)
            throw Self.failure("did not end within \(seconds) s (--code-timeout)")
        }
        guard bytes.count <= Self.maxOutput else {
            output.kill()
            _ = output.status(until: end)
            throw Self.failure("printed more than \(Self.maxOutput) bytes; one line is expected")
        }
        switch output.status(until: end) {
        case nil: throw Self.failure("did not end within \(seconds) s (--code-timeout)")
        case .exited(0)?: return try Self.line(bytes)
        case .exited(let status)?: throw Self.failure("exited with status \(status)")
        case .killed(let number)?: throw Self.failure("was ended by signal \(number)")
        }
    }

    private static func line(_ bytes: [UInt8]) throws(ClientError) -> String {
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map(Array.init)
        guard let line = lines.first else { throw failure("printed nothing; one line with a code or link is expected") }
        guard lines.count == 1 else { throw failure("printed \(lines.count) lines; one is expected") }
        guard let text = String(validating: line, as: UTF8.self) else { throw failure("printed what is not UTF-8") }
        let trimmed = TerminalText.trimmed(text)
        guard !trimmed.isEmpty else { throw failure("printed nothing; one line with a code or link is expected") }
        return trimmed
    }

    private static func failure(_ what: String) -> ClientError {
        .refused(ControlError(.failed, "--code-command \(what)."))
    }
}
