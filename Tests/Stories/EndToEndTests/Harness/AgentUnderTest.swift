import Foundation
import Glibc
import Synchronization
import Testing

/// `oob-agent` on a state directory and a socket of its own, and `oobctl` against it.
final class AgentUnderTest: Sendable {
    let stateDirectory: String
    let socket: String
    private let scenario: Scenario
    private let files: String
    private let child = Mutex<Child?>(nil)
    private let allowedErrors = Mutex<[String]>([])

    init(in scenario: Scenario, number: Int) {
        self.scenario = scenario
        files = "agent\(number)"
        stateDirectory = "\(scenario.folder)/state\(number)"
        socket = "\(scenario.folder)/\(number).sock"
    }

    /// Starts it, and returns when `oobctl status` answers.
    ///
    /// - Parameter otherSocket: where the arguments name another socket than usual.
    func start(
        _ arguments: String..., environment: [String: String] = [:], answeringAt otherSocket: String? = nil
    ) async throws {
        try await start(arguments, environment: environment, answeringAt: otherSocket)
    }

    func start(
        _ arguments: [String], environment: [String: String] = [:], answeringAt otherSocket: String? = nil
    ) async throws {
        let child = try scenario.start(
            "oob-agent", self.arguments + arguments, environment: environment, files: files)
        self.child.withLock { $0 = child }
        try await Patience.until("an answer of the agent") {
            if let status = child.status { throw Ended(description: "the agent exits \(status): \(log)") }
            let status = try await run(["status", "--json"], at: otherSocket ?? socket)
            return status.status == 0 && !status.output.contains(#""state":"starting""#) ? () : nil
        }
    }

    /// Starts it where it is expected to end by itself.
    func startAndExit(_ arguments: [String]) async throws -> Finished {
        try await scenario.run("oob-agent", self.arguments + arguments)
    }

    private struct Ended: Error, CustomStringConvertible {
        let description: String
    }

    private var arguments: [String] { ["--state-dir", stateDirectory, "--socket", socket] }

    var pid: pid_t { child.withLock { $0?.pid ?? 0 } }

    /// Asks it to stop (SIGTERM), and returns its exit status.
    func stop(within bound: Duration = Patience.usual) async throws -> Int32? {
        guard let child = child.withLock(\.self) else { return nil }
        child.signal(SIGTERM)
        return try await child.exitStatus(within: bound)
    }

    /// Ends it as a power cut would (SIGKILL).
    func kill() async { await child.withLock(\.self)?.kill() }

    /// Everything that it wrote to standard error, over all its starts.
    var log: String {
        String(
            decoding: FileManager.default.contents(atPath: "\(scenario.folder)/\(files).err") ?? Data(), as: UTF8.self)
    }

    /// The paths of all files below its state directory.
    var stateFiles: [String] {
        let names = FileManager.default.enumerator(atPath: stateDirectory)?.compactMap { $0 as? String } ?? []
        return names.map { "\(stateDirectory)/\($0)" }
    }

    /// Runs `oobctl`; another exit status than the expected one is an issue.
    @discardableResult
    func ctl(
        _ arguments: String..., exits expected: Int32 = 0, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Finished {
        try await ctl(arguments, exits: expected, sourceLocation: sourceLocation)
    }

    @discardableResult
    func ctl(
        _ arguments: [String], exits expected: Int32 = 0, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Finished {
        let finished = try await run(expected == 0 ? patient(arguments) : arguments)
        #expect(finished.status == expected, "\(finished)", sourceLocation: sourceLocation)
        return finished
    }

    /// What `oobctl … --json` prints.
    func json(_ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws -> JSON {
        try await json(arguments, sourceLocation: sourceLocation)
    }

    func json(_ arguments: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws -> JSON {
        let finished = try await run(patient(arguments) + ["--json"])
        #expect(finished.status == 0, "\(finished)", sourceLocation: sourceLocation)
        return try finished.json
    }

    /// A decision that has to be delivered: its default is ten seconds, which a busy machine may take.
    private func patient(_ arguments: [String]) -> [String] {
        guard ["approve", "deny"].contains(arguments.first), !arguments.contains("--delivery-timeout") else {
            return arguments
        }
        return arguments.prefix(1) + ["--delivery-timeout", "60"] + arguments.dropFirst()
    }

    /// Runs `oobctl`, whatever it exits with.
    func attempt(_ arguments: String...) async throws -> Finished { try await run(arguments) }

    private func run(_ arguments: [String], at socket: String? = nil) async throws -> Finished {
        try await scenario.run("oobctl", arguments, environment: ["OOB_AGENT_SOCKET": socket ?? self.socket])
    }

    /// Enrolls, and returns the enrollment.
    func enroll(
        at sandbox: Sandbox, code options: JSON = [:], authnType: String = "presence", name: String? = nil,
        keyURI: String? = nil
    ) async throws -> JSON {
        try await json(
            ["enroll", "--issuer", sandbox.url, "--code", try await sandbox.code(options), "--authn-type", authnType]
                + (name.map { ["--name", $0] } ?? []) + (keyURI.map { ["--key-uri", $0] } ?? []))
    }

    /// Waits until the agent has a request of this acsTransId, pending or not, and returns it.
    func received(_ acsTransId: String) async throws -> JSON {
        try await Patience.until("the request \(acsTransId)") { try await rows(acsTransId).first }
    }

    /// Waits until a member of the request of this acsTransId has that value, and returns the request.
    @discardableResult
    func request(_ acsTransId: String, untilIts member: String, is value: JSON) async throws -> JSON {
        try await Patience.until("\(member) \(value) of the request \(acsTransId)") {
            try await rows(acsTransId).first { $0[member] == value }
        }
    }

    private func rows(_ acsTransId: String) async throws -> [JSON] {
        let all = try await json("list", "--all", "--limit", "1000").elements
        return all.filter { $0["acsTransId"].text == acsTransId }
    }

    /// Says that the test makes the agent log an error with these words.
    func mayLogError(_ words: String) { allowedErrors.withLock { $0.append(words) } }

    /// Errors are for what a person has to look after: a test names those that it causes.
    func expectCleanLog() {
        let allowed = allowedErrors.withLock(\.self)
        for line in log.split(separator: "\n") {
            let isError = line.split(separator: " ", maxSplits: 2).dropFirst().first == "error"
            let isAllowed = allowed.contains { line.contains($0) }
            #expect(!isError || isAllowed, "an unexpected error in the agent's log: \(line)")
        }
        #expect(!log.contains("Fatal error"), "the agent crashed: \(log)")
    }
}
