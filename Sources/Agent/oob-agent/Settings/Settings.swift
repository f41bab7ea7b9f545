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

/// All settings, validated: a flag overrides an environment variable, and that overrides the config file.
struct Settings {
    enum LogFormat: String, CaseIterable {
        case text, json
    }

    let stateDirectory: String
    let socketPath: String
    /// The socket's directory in the user's session, which is made if it is missing.
    let sessionDirectory: String?
    /// The rights for the socket.
    let access: ControlAccess
    /// The named file or a systemd credential, or `nil` if the agent makes a secret.
    let secretFile: String?
    #if PostgreSQL
    /// The database that several hosts share, or `nil` if the store is a file.
    let database: DatabaseSettings?
    #endif
    /// The check for the secret's file: systemd gives credentials an owner and mode of its own.
    let secretPrivacy: FilePrivacy
    /// The previous secret's file, while the secret changes, or `nil` if none is named.
    let previousSecretFile: String?
    /// The directory of systemd's credentials, or `nil` if there is none.
    let credentials: String?
    let logLevel: Logger.Level
    let logFormat: LogFormat
    let exponentPolicy: ExponentPolicy
    /// The issuers that enroll may name, or `nil` for any.
    let issuers: [IssuerURL]?
    let allowTestAuthenticators: Bool
    let hasTestClock: Bool
    #if Personas
    let cardholders: Cardholders.Settings
    #endif
    let network: OutboundNetwork
    /// The module that is loaded for keys on tokens, or `nil` for none.
    let pkcs11Module: String?
    /// The TPM's TCTI, or `nil` for the environment's value.
    let tpmTCTI: String?
    /// The metrics port, or `nil` if metrics are on the control socket only.
    let metricsAddress: ListenAddress?
    /// Milliseconds.
    let hostLease: Int
    let maxUndecided: Int
    /// The limit for enrollments, or `nil` for the default of the store.
    let maxEnrollments: Int?
    /// The limit for stored bytes, or `nil` for the default of the store.
    let maxStoredBytes: Int?
    let maxAnswerBytes: Int
    let eventsKept: Int
    /// Seconds.
    let auditRetention: Int64
    /// Seconds.
    let retention: Int64
    /// The push listener, or `nil` if requests come by polls only.
    let push: PushListenerSettings?
    /// The text of each setting that is set; defaults are not included.
    let found: [Setting: String]
    private let flags: SettingFlags
    private let environment: [String: String]

    /// - Parameter isMigration: whether the database settings describe the target of a move.
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

    /// Reads all settings again: the config file and the files that it names may have changed.
    func again() throws(StartError) -> Settings { try Settings(flags: flags, environment: environment) }
}

extension LineFormat {
    /// The format for standard error.
    init(_ format: Settings.LogFormat) {
        self =
            switch format {
            case .json: .jsonOnStandardError
            case .text: .textOnStandardError
            }
    }
}

extension OutboundNetwork {
    /// Reads and checks the settings; an error names the setting and the file.
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
