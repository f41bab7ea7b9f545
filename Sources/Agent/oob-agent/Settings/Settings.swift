import AgentConfig
import Control
import ControlServer
import DurableFiles
import HTTPServing
import IssuerLink
import IssuerProtocol
import Keys
import LineLog
import Logging
import ThreeDS

#if Personas
import Personas
#endif

/// All settings, checked: a flag wins over an environment variable, and that over the config file.
struct Settings {
    enum LogFormat: String, CaseIterable {
        case text, json
    }

    let stateDirectory: String
    let socketPath: String
    /// Where the socket is, if that is the user's session: it is made if it is missing.
    let sessionDirectory: String?
    /// Who may use the socket.
    let access: ControlAccess
    /// A file that was named, or a credential of systemd's; nil: one is made.
    let secretFile: String?
    #if PostgreSQL
    /// The database that several hosts share; nil: the store is a file.
    let database: DatabaseSettings?
    #endif
    /// systemd hands credentials over with an owner and mode of its own.
    let secretPrivacy: FilePrivacy
    /// The previous secret's file, while the secret changes; nil if none is named.
    let previousSecretFile: String?
    /// The directory of systemd's credentials; nil if there is none.
    let credentials: String?
    let logLevel: Logger.Level
    let logFormat: LogFormat
    let exponentPolicy: ExponentPolicy
    /// The issuers that enroll may name; `nil`: any.
    let issuers: [IssuerURL]?
    let allowTestAuthenticators: Bool
    let hasTestClock: Bool
    #if Personas
    let cardholders: Cardholders.Settings
    #endif
    let network: OutboundNetwork
    /// The module that is loaded for keys on tokens; nil: none.
    let pkcs11Module: String?
    /// How the TPM is reached; nil: as the environment says.
    let tpmTCTI: String?
    /// Nil: metrics are on the control socket alone.
    let metricsAddress: ListenAddress?
    /// Milliseconds.
    let hostLease: Int
    let maxUndecided: Int
    /// Nil: as many as suit the store.
    let maxEnrollments: Int?
    /// Nil: as many as suit the store.
    let maxStoredBytes: Int?
    let maxAnswerBytes: Int
    let eventsKept: Int
    /// Seconds.
    let auditRetention: Int64
    /// Seconds.
    let retention: Int64
    /// Nil: requests come by polls alone.
    let push: PushListenerSettings?
    /// What was found for each setting, as text; a default is not found.
    let found: [Setting: String]
    private let flags: SettingFlags
    private let environment: [String: String]

    /// - Parameter isMigration: whether the settings of a database are those of where the state is moved to.
    init(flags: SettingFlags, environment: [String: String], isMigration: Bool = false) throws(StartError) {
        let source = try SettingSource(flags: flags, environment: environment)
        try source.expectKnownVariables()
        stateDirectory = try source.stateDirectory()
        socketPath = try source.socketPath(stateDirectory: stateDirectory)
        sessionDirectory = try source.sessionDirectory()
        access = try ControlAccess(source)
        #if PostgreSQL
        database = try DatabaseSettings.read(source, isMigration: isMigration)
        #else
        try source.expectNoPostgreSQL()
        #endif
        let named = try source.path(.secretFile)
        credentials = environment["CREDENTIALS_DIRECTORY"]
        secretFile = named ?? credentials.map { $0 + "/secret" }
        secretPrivacy = named == nil && secretFile != nil ? .credential : .ownerOnly
        previousSecretFile = try source.path(.previousSecretFile)
        logLevel =
            try source.choice(
                .logLevel, allowed: ["debug", "info", "notice", "warning", "error"], Logger.Level.init(rawValue:))
            ?? .info
        logFormat =
            try source.choice(.logFormat, allowed: LogFormat.allCases.map(\.rawValue), LogFormat.init(rawValue:))
            ?? .text
        exponentPolicy =
            try source.choice(
                .exponentPolicy, allowed: ExponentPolicy.allCases.map(\.rawValue), ExponentPolicy.init(rawValue:))
            ?? .refuse
        allowTestAuthenticators =
            try source.choice(.allowTestAuthenticators, allowed: ["true", "false"]) { $0 == "true" } ?? false
        issuers = try source.issuers()
        hasTestClock = try source.choice(.testClock, allowed: ["true", "false"]) { $0 == "true" } ?? false
        #if Personas
        cardholders = try source.cardholders()
        #else
        try source.expectNoPersonas()
        #endif
        network = try OutboundNetwork(source)
        pkcs11Module = try source.absolutePath(.pkcs11Module)
        tpmTCTI = try source.visibleText(.tpmTCTI, bytes: 1...255)
        metricsAddress = try source.loopbackAddress(.metricsListen)
        hostLease = try source.number(.hostLease)
        maxUndecided = try source.number(.maxUndecided)
        let maxEnrollments = try source.number(.maxEnrollments)
        self.maxEnrollments = source.find(.maxEnrollments).map { _ in maxEnrollments }
        let maxStoredBytes = try source.number(.maxStoredBytes)
        self.maxStoredBytes = source.find(.maxStoredBytes).map { _ in maxStoredBytes }
        maxAnswerBytes = try source.number(.maxAnswerBytes)
        eventsKept = try source.number(.eventsKept)
        auditRetention = Int64(try source.number(.auditRetention)) * 86_400
        retention = Int64(try source.number(.retention)) * 86_400
        push = try PushListenerSettings.read(source)
        found = Dictionary(
            uniqueKeysWithValues: Setting.allCases.compactMap { setting in
                source.find(setting).map { (setting, $0.value) }
            })
        self.flags = flags
        self.environment = environment
    }

    /// Reads all settings again: the config and the files that it names may have changed.
    func again() throws(StartError) -> Settings { try Settings(flags: flags, environment: environment) }
}

extension LineFormat {
    /// As standard error takes it.
    init(_ format: Settings.LogFormat) {
        self =
            switch format {
            case .json: .jsonOnStandardError
            case .text: .textOnStandardError
            }
    }
}

extension OutboundNetwork {
    /// Reads and checks what the settings name; an error names the setting and the file.
    init(_ source: SettingSource) throws(StartError) {
        self.init(identity: try Self.identity(source), proxy: try Self.proxy(source))
    }

    private static func proxy(_ source: SettingSource) throws(StartError) -> HTTPProxy? {
        guard let found = source.find(.proxy) else { return nil }
        do throws(HTTPProxy.Refusal) {
            return try HTTPProxy(found.value)
        } catch {
            throw StartError(found.status, "\(found.place): \(error)")
        }
    }

    private static func identity(_ source: SettingSource) throws(StartError) -> ClientIdentity? {
        guard let files = try KeyPairFiles.read(source, certificate: .clientCert, key: .clientKey) else { return nil }
        do throws(ClientIdentity.Refusal) {
            return try unsafe files.secret.withBytes { bytes throws(ClientIdentity.Refusal) in
                try unsafe ClientIdentity(certificate: files.chain, key: Array(bytes))
            }
        } catch {
            throw files.refusal(ofCertificate: error.part == .certificate, "\(error)")
        }
    }
}
