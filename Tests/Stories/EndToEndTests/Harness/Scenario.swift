import Foundation
import Glibc
import Synchronization
import Testing

/// What one test has to itself: a directory, and processes that end with the test, however it ends.
final class Scenario: Sendable {
    /// Short, since a Unix socket's path has at most 107 bytes.
    let folder: String
    private let children = Mutex<[Child]>([])
    private let agents = Mutex<[AgentUnderTest]>([])
    private let sandboxes = Mutex<[Sandbox]>([])

    private init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "oob-\(UUID().uuidString.prefix(8))").path()
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    /// Runs a test, then ends its processes, and looks at what the agents wrote.
    static func run(_ body: (Scenario) async throws -> Void) async throws {
        try await Places.shared.run {
            let scenario = try Scenario()
            do {
                try await body(scenario)
            } catch {
                await scenario.end(showingLogs: true)
                throw error
            }
            await scenario.end(showingLogs: false)
        }
    }

    /// A sandbox issuer that listens.
    func sandbox() async throws -> Sandbox {
        let sandbox = try await Sandbox(in: self, number: sandboxes.withLock(\.count) + 1)
        sandboxes.withLock { $0.append(sandbox) }
        return sandbox
    }

    /// An agent that is not started yet, on a state directory of its own.
    func agent() -> AgentUnderTest {
        agents.withLock { agents in
            let agent = AgentUnderTest(in: self, number: agents.count + 1)
            agents.append(agent)
            return agent
        }
    }

    /// A sandbox, and an agent that is ready and has an enrollment there.
    func enrolled() async throws -> (Sandbox, AgentUnderTest) {
        let sandbox = try await sandbox()
        let agent = agent()
        try await agent.start()
        _ = try await agent.enroll(at: sandbox)
        return (sandbox, agent)
    }

    /// Starts one of the programs, in an environment that holds nothing of whoever runs the tests.
    func start(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], files: String
    ) throws -> Child {
        let own = ["HOME": folder, "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"]
        let child = try Child(
            try BuiltPrograms.path(of: program), arguments,
            environment: own.merging(environment) { $1 }, files: "\(folder)/\(files)")
        children.withLock { $0.append(child) }
        return child
    }

    /// Runs one of the programs to its end.
    func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:],
        within bound: Duration = .seconds(300)
    ) async throws -> Finished {
        let files = "run-" + UUID().uuidString
        let child = try start(program, arguments, environment: environment, files: files)
        let status = try await child.exitStatus(within: bound)
        return Finished(
            command: ([program] + arguments).joined(separator: " "), status: status, output: child.output,
            errors: child.errors)
    }

    private func end(showingLogs: Bool) async {
        await endProcesses()
        for agent in agents.withLock(\.self) {
            agent.expectCleanLog()
            expectNoTokenInClear(in: agent)
            if showingLogs { Issue.record("what the agent wrote:\n\(agent.log)") }
        }
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func endProcesses() async {
        let children = children.withLock(\.self)
        for child in children where child.status == nil { child.signal(SIGTERM) }
        for child in children {
            let status = try? await child.exitStatus()
            #expect(status != nil, "\(child.name) did not stop within \(Patience.usual) of SIGTERM")
        }
    }

    /// Access tokens, which the issuers keep in clear, are in no log and in no file of an agent's.
    private func expectNoTokenInClear(in agent: AgentUnderTest) {
        for token in sandboxes.withLock(\.self).flatMap(\.accessTokens) {
            #expect(!agent.log.contains(token), "an access token is in the agent's log")
            for path in agent.stateFiles {
                let bytes = FileManager.default.contents(atPath: path) ?? Data()
                #expect(bytes.range(of: Data(token.utf8)) == nil, "an access token is in \(path)")
            }
        }
    }
}

/// A program that has ended.
struct Finished: Sendable, CustomStringConvertible {
    let command: String
    let status: Int32
    let output: String
    let errors: String

    var json: JSON { get throws { try JSON(parsing: output) } }

    var description: String { "\(command) exits \(status)\nstandard output: \(output)\nstandard error: \(errors)" }
}
