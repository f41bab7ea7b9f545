import Authenticator
import ControlServer
import Custody
import IssuerLink
import Keys
import LinuxProcess
import Logging
import ServiceLifecycle
import Storage
import ThreeDS
import UnixSignals

/// The wiring: which part stands behind which port, and in which order they start and stop.
struct AgentProcess {
    /// How long an orderly stop may take.
    private static let patience: Duration = .seconds(3)

    private let settings: Settings
    private let log: Logger

    init(_ settings: Settings) {
        self.settings = settings
        let format = LineFormat(
            settings.logFormat, underJournald: ProcessEnvironment.variables["JOURNAL_STREAM"] != nil)
        log = Logger(label: "oob-agent") { _ in LineLogHandler(format: format, logLevel: settings.logLevel) }
    }

    func run() async throws {
        try claimStateDirectory()
        let gateway = HTTPIssuerGateway(version: AgentVersion.text, road: settings.road, clock: SystemClock())
        do {
            try await serve(try agent(gateway))
        } catch {
            await gateway.shutdown()
            throw error
        }
        await gateway.shutdown()
        log.notice("stopped")
    }

    private func claimStateDirectory() throws(StartError) {
        do throws(FileError) {
            try PrivateDirectory.make(at: settings.stateDirectory)
        } catch {
            throw StartError(.noPermission, "the state directory \(error)")
        }
        do throws(StateLockError) {
            try StateLock.acquire(directory: settings.stateDirectory)
        } catch {
            if case .heldBy = error { throw StartError(.unavailable, "another agent runs on this state: \(error)") }
            throw StartError(.noPermission, "\(error)")
        }
    }

    private func agent(_ gateway: HTTPIssuerGateway) throws(StartError) -> Agent {
        let secret = try SecretSource.load(settings, log: log)
        do {
            let ports = Ports(
                book: try SQLiteBook(path: settings.stateDirectory + "/agent.db"),
                custody: try KeyFileCustody(directory: settings.stateDirectory + "/keys", secret: secret),
                gateway: gateway, clock: SystemClock(), entropy: SystemEntropy())
            let core = AgentSettings(
                exponentPolicy: settings.exponentPolicy, maxUndecided: settings.maxUndecided,
                allowTestAuthenticators: settings.allowTestAuthenticators, localTime: .ofThisProcess,
                version: AgentVersion.text)
            return Agent(ports: ports, settings: core, log: log)
        } catch {
            throw StartError(.noPermission, "\(error)")
        }
    }

    private func serve(_ agent: Agent) async throws {
        do {
            try await agent.prepare()
        } catch is SealError {
            throw StartError(
                .config, "the secret is not the one that this state was made with: give that one (--secret-file)")
        }
        for warning in agent.warnings(about: try await agent.enrollments()) {
            log.warning("a weakness in the set-up", metadata: ["id": "\(warning.id)", "message": "\(warning.message)"])
        }
        let log = log
        let path = settings.socketPath
        let server = ControlServer(agent: agent, path: path, log: log) {
            log.notice("ready", metadata: ["socket": "\(path)", "version": "\(AgentVersion.text)"])
        }
        // Later ones use earlier ones, and stop before them.
        var configuration = ServiceGroupConfiguration(
            services: [
                Loop(agent.signCountWatch.run), Loop(agent.courier.run), Loop(agent.ceremonies.run),
                Loop(agent.fetcher.run),
                Loop(agent.timekeeper.run), Loop(server.run, stopsItself: true),
            ],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "lifecycle") { _ in SwiftLogNoOpLogHandler() })
        configuration.maximumGracefulShutdownDuration = Self.patience
        do {
            try await ServiceGroup(configuration: configuration).run()
        } catch let error as ControlServerError {
            throw StartError(.unavailable, "\(error)")
        }
    }
}

/// Something that works until it is told to stop.
private struct Loop: Service {
    private let body: @Sendable () async throws -> Void
    private let stopsItself: Bool

    /// - Parameter stopsItself: whether the body heeds a graceful shutdown; else it is cancelled for one.
    init(_ body: @escaping @Sendable () async throws -> Void, stopsItself: Bool = false) {
        self.body = body
        self.stopsItself = stopsItself
    }

    func run() async throws {
        guard !stopsItself else { return try await body() }
        do {
            try await cancelWhenGracefulShutdown(body)
        } catch is CancellationError {
            // That is how it stops.
        }
    }
}
