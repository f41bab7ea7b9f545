import ArgumentParser
import Control
import FoundationEssentials

/// The options of every command.
struct CommonOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The agent's control socket (OOB_AGENT_SOCKET).", valueName: "path"), completion: .file())
    var socket: String?

    @Flag(help: "Print JSON instead of text for people.")
    var json = false

    /// As ``withAgent(_:)``, for a command that only reads: a closed pipe (`| head`) ends it with status 0.
    func read(_ body: (ControlClient, Output) async throws(ClientError) -> ExitStatus) async throws {
        try await withAgent(Output(json: json, isReading: true), body)
    }

    /// Runs one call; prints an error, and exits with its status.
    func withAgent(_ body: (ControlClient, Output) async throws(ClientError) -> ExitStatus) async throws {
        try await withAgent(Output(json: json), body)
    }

    private func withAgent(
        _ output: Output, _ body: (ControlClient, Output) async throws(ClientError) -> ExitStatus
    ) async throws {
        let status: ExitStatus
        do throws(ClientError) {
            status = try await body(try client(), output)
        } catch {
            output.error(error)
            status = error.exitStatus
        }
        if status != .done { throw ExitCode(status.rawValue) }
    }

    func client() throws(ClientError) -> ControlClient {
        try ControlClient(socketFlag: socket, environment: ProcessInfo.processInfo.environment)
    }
}

/// `--enrollment`, for all commands that read or decide requests.
struct EnrollmentOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("Only the requests of the enrollment with this name or ID.", valueName: "name"),
        completion: .enrollments)
    var enrollment: String?

    func validate() throws {
        if let enrollment { try Usage.checkEnrollment(enrollment) }
    }
}

/// Arguments checked during parsing, so that wrong ones exit 64.
enum Usage {
    /// An ID as typed, or a prefix of one.
    static func id(_ text: String) throws -> RequestSelector {
        try checked { () throws(ControlError) in try RequestSelector(id: text) }
    }

    /// Checks an enrollment as typed: its name, its ID, or a prefix of its ID.
    static func checkEnrollment(_ text: String) throws {
        guard EnrollCommand.nameBytes.contains(text.utf8.count) else {
            throw ValidationError("An enrollment's name has 1 to 256 bytes.")
        }
    }

    /// Runs `read`, and turns its error into one of usage.
    static func checked<Value>(_ read: () throws(ControlError) -> Value) throws -> Value {
        do throws(ControlError) { return try read() } catch { throw ValidationError(error.message) }
    }

    static func expect(_ value: Int?, in range: ClosedRange<Int>, option: String) throws {
        guard let value, !range.contains(value) else { return }
        throw ValidationError("\(option) takes \(range.lowerBound) to \(range.upperBound).")
    }

    static func expectNone(_ problem: String?, option: String) throws {
        guard let problem else { return }
        throw ValidationError("\(option): \(problem).")
    }
}
