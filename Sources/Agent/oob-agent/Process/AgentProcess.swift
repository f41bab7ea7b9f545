import AgentHost
import Authenticator
import ControlServer
import Custody
import DurableFiles
import ExternalKeyCustody
import HTTPServing
import IssuerLink
import Keys
import LineLog
import LinuxProcess
import Logging
import PushReceiver
import Records
import SQLiteBackup
import SQLiteStore
import ServiceLifecycle
import ThreeDS
import UnixSignals
import Versioning

/// Builds the agent: binds an implementation to each port, and orders the start and the stop of the parts.
struct AgentProcess {
    /// The limit for a graceful shutdown.
    private static let patience: Duration = .seconds(3)

    let settings: Settings
    private let tuning: LogTuning
    let log: Logger
    let startNews = StartNews(patience: StartStep.usualPatience) { news throws(SystemError) in
        try ProcessEnvironment.serviceManager?.send(news)
    }

    init(_ settings: Settings) {
        self.settings = settings
        let tuning = LogTuning(LineFormat(settings.logFormat), settings.logLevel)
        self.tuning = tuning
        log = Logger(label: "oob-agent") { _ in LineLogHandler(tuning) }
    }

    /// - Parameter scratch: the place of the database's temporary files.
    func serve(_ scratch: Scratch) async throws {
        notifyStart()
        try expectNoKeyFiles()
        // From here on SIGHUP does not end the process. A SIGHUP during the start is handled later.
        let hangUps = await UnixSignalsSequence(trapping: .sighup)
        try claimStateDirectory()
        try tidyStateDirectory()
        let gateway = HTTPIssuerGateway(
            version: SoftwareVersion.text, network: settings.network, clock: SystemClock(),
            bounds: answerBounds)
        do {
            let (agent, opened, rewrapper) = try await agent(gateway, scratch)
            defer { close(opened) }
            try await opened.perform {
                try await serveAndConclude(
                    agent, opened, rewrapper: rewrapper, gateway: gateway, hangUps: hangUps)
            }
        } catch {
            await gateway.shutdown()
            throw error
        }
        await gateway.shutdown()
        log.notice("stopped")
        StandardStream.error.finish()
    }

    /// Closes the store.
    ///
    /// Commits are durable without it, but then the database's log stays beside the database.
    func close(_ opened: OpenedStore) {
        do {
            try opened.close()
        } catch {
            log.error("the database could not be closed", metadata: ["reason": "\(error)"])
        }
    }

    func claimStateDirectory() throws(StartError) {
        do throws(StateClaimError) {
            try StateClaim.lock(settings.stateDirectory)
        } catch {
            throw StartError(error)
        }
    }

    func tidyStateDirectory() throws(StartError) {
        guard !isStateHere || !StateFiles.awaitsMovedState(settings.stateDirectory) else {
            throw StartError(
                .dataError,
                "a move of the hosts' state into \(settings.stateDirectory) did not finish: run oob-agent --migrate-to again"
            )
        }
        guard StateFiles.tidy(settings.stateDirectory) else {
            throw StartError(
                .dataError,
                "a restore into \(settings.stateDirectory) did not finish: run oob-agent --restore again")
        }
    }

    /// - Parameter isToStay: `false` for a run that only accepts a doubt. It begins no change of the secret.
    func agent(
        _ gateway: HTTPIssuerGateway, _ scratch: Scratch, isToStay: Bool = true
    ) async throws(StartError) -> (Agent, OpenedStore, SecretRewrapper?) {
        // Before the first secret is read.
        let isMemoryLocked = LockedMemory.prepare()
        let found = try SecretSource.find(settings)
        let secret = if let found { found } else { try SecretSource.generate() }
        // Before a database exists that needs it.
        if found == nil, isStateHere { try keep(secret) }
        let previous = try previousSecret(of: secret)
        let secrets = SealingSecrets(secret, previous: previous)
        do {
            let ring = KeyRing(
                own: SealedKeyCustody(secrets),
                external: ExternalKeys(pkcs11Module: settings.pkcs11Module), clock: SystemClock())
            let testClock = settings.hasTestClock ? TestClock() : nil
            let opened = try await openStore(
                scratch, secrets, mayChangeSecret: isToStay, isSecretNew: found == nil,
                clock: testClock ?? SystemClock())
            if found == nil, !isStateHere { try SecretSource.keep(secret, settings, log: log) }
            let ports = Ports(
                store: opened.store, custody: ring, externalKeys: ring,
                sealing: SecretSealer(secrets), auditKeys: SealedAuditKeys(secrets), gateway: gateway,
                clock: SystemClock(),
                testClock: testClock, shares: opened.shares, headKeeper: headFile, entropy: SystemEntropy(),
                inspector: WholeInspector(
                    host: hostInspector(isMemoryLocked: isMemoryLocked), ofStore: opened.findings))
            // While another host lacks the present secret, no data is sealed under it.
            let change = opened.isPresentSecretInUse ? previous.map { SecretChange(from: $0, to: secret) } : nil
            let rewrapper = change.map(SecretRewrapper.init)
            return (Agent(ports: ports, settings: coreSettings, log: log), opened, rewrapper)
        } catch let error as FileError {
            throw StartError(StartError.Status(error.systemError), "\(error)")
        } catch {
            throw StartError(error)
        }
    }

    /// Whether a file in the state directory has the state, in contrast to a database that several hosts share.
    var isStateHere: Bool {
        #if PostgreSQL
        settings.database == nil
        #else
        true
        #endif
    }

    private func hostInspector(isMemoryLocked: Bool) -> LinuxHostInspector {
        LinuxHostInspector(
            stateDirectory: settings.stateDirectory, socketPath: settings.socketPath,
            isSocketShared: settings.access.group != nil, secretFile: settings.secretFile,
            isSecretCredential: settings.secretPrivacy == .credential, isMemoryLocked: isMemoryLocked,
            suffixes: PublicSuffixFile())
    }

    private var bounds: AgentBounds {
        AgentBounds {
            $0.undecided = settings.maxUndecided
            if !isStateHere {
                $0.enrollments = AgentBounds.enrollmentsOfHosts
                $0.storedBytes = AgentBounds.storedBytesOfHosts
            }
            if let most = settings.maxStoredBytes { $0.storedBytes = most }
            if let most = settings.maxEnrollments { $0.enrollments = most }
        }
    }

    /// The limits for issuers' answers.
    var answerBounds: AnswerBounds {
        var bounds = AnswerBounds.standard
        bounds.bytesInAll = settings.maxAnswerBytes
        return bounds
    }

    private var coreSettings: AgentSettings {
        var core = AgentSettings(
            exponentPolicy: settings.exponentPolicy, bounds: bounds, retention: settings.retention,
            auditRetention: settings.auditRetention, eventsKept: settings.eventsKept,
            allowTestAuthenticators: settings.allowTestAuthenticators,
            allowedIssuers: AllowedIssuers(settings.issuers),
            localTime: .ofThisProcess, version: SoftwareVersion.text, hasPersonas: Self.hasPersonas,
            push: settings.push?.settings)
        core.longPolls = FileLimit.longPolls
        core.publicSuffixes = { PublicSuffixFile().list }
        return core
    }

    /// Serves, and records the stop in the journal, also after an error.
    private func serveAndConclude(
        _ agent: Agent, _ opened: OpenedStore, rewrapper: SecretRewrapper?, gateway: HTTPIssuerGateway,
        hangUps: UnixSignalsSequence
    ) async throws {
        try await prepare(agent, opened, rewrapper)
        let result: Result<Void, any Error>
        do {
            result = .success(try await serve(agent, opened, gateway: gateway, hangUps: hangUps))
        } catch {
            result = .failure(error)
        }
        do {
            try await agent.conclude()
        } catch {
            log.error("the stop could not be recorded in the journal", metadata: ["reason": "\(error)"])
        }
        try result.get()
    }

    private func prepare(_ agent: Agent, _ opened: OpenedStore, _ rewrapper: SecretRewrapper?) async throws {
        try await refusing(opened) {
            try await agent.prepare(rewrapping: rewrapper, isReadingRows: false, onStep: { notify($0) })
        }
        try await expectNoPersonas(agent)
        // An agent that cannot read its database does not start.
        for finding in try await agent.findingsOfAll() where finding.isCertain {
            log.log(
                level: finding.severity == .low ? .notice : .warning, "a weakness in the set-up",
                metadata: ["id": "\(finding.weakness)", "what": "\(finding.message)"])
        }
    }

    private func serve(
        _ agent: Agent, _ opened: OpenedStore, gateway: HTTPIssuerGateway, hangUps: UnixSignalsSequence
    ) async throws {
        let pushServer = pushServer(agent)
        let readiness = readiness(isPushed: pushServer != nil)
        let lastReload = LastReload()
        let looks = SocketLooks()
        let cardholders = cardholders(agent)
        let reloader = Reloader(
            started: settings, tuning: tuning, gateway: gateway, pushServer: pushServer,
            allowedIssuers: agent.settings.allowedIssuers, useRules: cardholders.use,
            lookAtSocket: looks.ask, manager: ProcessEnvironment.serviceManager, readiness: readiness, last: lastReload,
            log: log)
        // Later services use earlier ones, and stop before them.
        let services =
            agent.loops(isPolling: true) { handle($0, readiness: readiness) }.map { Loop($0) }
            + cardholders.services + pushServices(pushServer, readiness)
            + metricsServices(agent, readiness) + [
                memoryService(agent, opened),
                Loop(
                    try controlServer(
                        agent, copier: opened.copier, cardholders: cardholders.control, looks: looks,
                        readiness: readiness
                    ).run, stopsItself: true),
            ]
            + [Loop { try await reloader.reload(hangUps) }] + supervision(agent, readiness: readiness, last: lastReload)
        var configuration = ServiceGroupConfiguration(
            // If one service fails, the others still stop in order.
            services: services.map { .init(service: $0, failureTerminationBehavior: .gracefullyShutdownGroup) },
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "lifecycle") { _ in SwiftLogNoOpLogHandler() })
        configuration.maximumGracefulShutdownDuration = Self.patience
        do {
            try await ServiceGroup(configuration: configuration).run()
        } catch let error as ControlServerError {
            throw StartError(error)
        } catch let error as PushServerError {
            throw StartError(error.isForbidden ? .noPermission : .unavailable, "\(error)")
        } catch let error as MetricsServerError {
            throw StartError(error.isForbidden ? .noPermission : .unavailable, "\(error)")
        }
    }

    private func readiness(isPushed: Bool) -> Readiness {
        var parts: Set<Readiness.Part> = [.control, .keys]
        if isPushed { parts.insert(.push) }
        if settings.metricsAddress != nil { parts.insert(.metrics) }
        let (log, path) = (log, settings.socketPath)
        return Readiness(parts) {
            log.notice("ready", metadata: ["socket": "\(path)", "version": "\(SoftwareVersion.text)"])
        }
    }

    private func metricsServices(_ agent: Agent, _ readiness: Readiness) -> [any Service] {
        guard let address = settings.metricsAddress else { return [] }
        let server = MetricsServer(agent, address, log: log)
        return [Loop({ try await server.serve { readiness.has(.metrics) } }, stopsItself: true)]
    }

    private func controlServer(
        _ agent: Agent, copier: any StateCopier, cardholders: (any CardholderControl)?, looks: SocketLooks,
        readiness: Readiness
    ) throws(StartError) -> ControlServer {
        let path = settings.socketPath
        if let directory = settings.sessionDirectory {
            do throws(FileError) {
                try PrivateDirectory.make(at: directory)
            } catch {
                throw StartError(.config, "the control socket's directory \(error) (the setting is socket)")
            }
        }
        return ControlServer(
            agent: agent, copier: copier, cardholders: cardholders, path: path, access: settings.access,
            looks: looks, clock: SystemClock(), log: log
        ) {
            readiness.has(.control)
            // If a port is in use, the agent stops and does not print that it listens.
            guard await cancelWhenGracefulShutdown(readiness.untilPorts) else { return }
            StandardStream.output.log("listening on \(path)")
        }
    }
}
