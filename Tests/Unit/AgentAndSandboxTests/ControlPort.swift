import AgentHost
import Control
import ControlServer
import HTTPServing
import IssuerProtocol
import Logging
import RawHTTP
import Records

/// The real control socket of an agent, in this process.
struct ControlPort: Sendable {
    private struct NoCopies: StateCopier {
        let size: Int64 = 0

        func copy() async throws -> any AsyncSequence<[UInt8], any Error> & Sendable { throw CancellationError() }
    }

    let path: String
    var http: RawHTTP { RawHTTP(socket: path) }

    func client() throws -> ControlClient {
        try ControlClient(socketFlag: path, environment: [:], leastSeconds: 86_400)
    }

    /// Serves while `body` runs.
    ///
    /// - Parameters:
    ///   - connections: the places, within the files that this process may open.
    ///   - patience: in seconds.
    static func run(
        _ local: LocalAgent, connections: Int = ControlBounds.standard.connections, patience: Int = 86_400,
        _ body: (ControlPort) async throws -> Void
    ) async throws {
        let port = ControlPort(path: local.directory + "/control.sock")
        var bounds = ControlBounds()
        (bounds.connections, bounds.patience) = (connections, patience)
        let (listening, sayListening) = AsyncStream.makeStream(of: Never.self)
        let server = ControlServer(
            agent: local.agent, copier: NoCopies(), path: port.path, bounds: bounds, looks: SocketLooks(),
            clock: SystemClock(), log: Logger(label: "server") { _ in SwiftLogNoOpLogHandler() }
        ) { sayListening.finish() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            for await _ in listening {}
            try await body(port)
            group.cancelAll()
        }
    }

    /// Serves an agent without enrollments while `body` runs.
    static func run(
        connections: Int = ControlBounds.standard.connections, patience: Int = 86_400,
        _ body: (ControlPort) async throws -> Void
    ) async throws {
        try await LocalAgent.run(at: try IssuerURL("http://localhost:1")) { local in
            try await run(local, connections: connections, patience: patience, body)
        }
    }
}
