import ArgumentParser

/// The flags of all settings, as text: one place validates values from any source.
struct SettingFlags: ParsableArguments {
    @Option(help: ArgumentHelp("The config file (YAML).", valueName: "file"), completion: .file())
    var config: String?

    @Option(
        name: .customLong("state-dir"), help: ArgumentHelp(.stateDir, "dir"),
        completion: .directory)
    var stateDir: String?

    @Option(help: ArgumentHelp(.socket, "path"), completion: .file())
    var socket: String?

    @OptionGroup var database: DatabaseFlags

    @Option(
        name: .customLong("secret-file"), help: ArgumentHelp(.secretFile, "file"),
        completion: .file())
    var secretFile: String?

    @Option(
        name: .customLong("previous-secret-file"),
        help: ArgumentHelp(.previousSecretFile, "file"), completion: .file())
    var previousSecretFile: String?

    @Option(
        name: .customLong("log-level"), help: ArgumentHelp(.logLevel, "level"),
        completion: .list(["debug", "info", "notice", "warning", "error"]))
    var logLevel: String?

    @Option(
        name: .customLong("log-format"), help: ArgumentHelp(.logFormat, "format"),
        completion: .list(["text", "json"]))
    var logFormat: String?

    @Option(
        name: .customLong("exponent-policy"), help: ArgumentHelp(.exponentPolicy, "policy"),
        completion: .list(["refuse", "warn"]))
    var exponentPolicy: String?

    @Option(help: ArgumentHelp(.issuers, "list"))
    var issuers: String?

    @Option(
        name: .customLong("allow-test-authenticators"),
        help: ArgumentHelp(.allowTestAuthenticators, "true|false"),
        completion: .list(["true", "false"]))
    var allowTestAuthenticators: String?

    @Flag(name: .customLong("test-clock"), help: ArgumentHelp(Setting.testClock.help))
    var testClock = false

    @Option(
        name: .customLong("persona-tags"), help: ArgumentHelp(.personaTags, "true|false"),
        completion: .list(["true", "false"]))
    var personaTags: String?

    @Option(
        name: .customLong("client-cert"), help: ArgumentHelp(.clientCert, "file"),
        completion: .file())
    var clientCert: String?

    @Option(
        name: .customLong("client-key"), help: ArgumentHelp(.clientKey, "file"),
        completion: .file())
    var clientKey: String?

    @Option(help: ArgumentHelp(.proxy, "url"))
    var proxy: String?

    @OptionGroup var access: AccessFlags

    @OptionGroup var push: PushFlags

    @Option(
        name: .customLong("metrics-listen"), help: ArgumentHelp(.metricsListen, "address:port"))
    var metricsListen: String?

    @Option(
        name: .customLong("pkcs11-module"), help: ArgumentHelp(.pkcs11Module, "path"),
        completion: .file())
    var pkcs11Module: String?

    @Option(name: .customLong("tpm-tcti"), help: ArgumentHelp(.tpmTCTI, "tcti"))
    var tpmTCTI: String?

    @Option(name: .customLong("max-undecided"), help: ArgumentHelp(.maxUndecided, "count"))
    var maxUndecided: String?

    @Option(name: .customLong("max-enrollments"), help: ArgumentHelp(.maxEnrollments, "count"))
    var maxEnrollments: String?

    @Option(name: .customLong("max-stored-bytes"), help: ArgumentHelp(.maxStoredBytes, "bytes"))
    var maxStoredBytes: String?

    @Option(name: .customLong("max-answer-bytes"), help: ArgumentHelp(.maxAnswerBytes, "bytes"))
    var maxAnswerBytes: String?

    @Option(name: .customLong("events-kept"), help: ArgumentHelp(.eventsKept, "count"))
    var eventsKept: String?

    @Option(name: .customLong("audit-retention"), help: ArgumentHelp(.auditRetention, "days"))
    var auditRetention: String?

    @Option(name: .customLong("retention"), help: ArgumentHelp(.retention, "days"))
    var retention: String?

    func value(of setting: Setting) -> String? {
        switch setting {
        case .stateDir: stateDir
        case .socket: socket
        case .secretFile: secretFile
        case .previousSecretFile: previousSecretFile
        case .logLevel: logLevel
        case .logFormat: logFormat
        case .exponentPolicy: exponentPolicy
        case .issuers: issuers
        case .allowTestAuthenticators: allowTestAuthenticators
        case .testClock: testClock ? "true" : nil
        case .personaTags: personaTags
        case .clientCert: clientCert
        case .clientKey: clientKey
        case .proxy: proxy
        case .metricsListen: metricsListen
        case .pkcs11Module: pkcs11Module
        case .tpmTCTI: tpmTCTI
        case .maxUndecided: maxUndecided
        case .maxEnrollments: maxEnrollments
        case .maxStoredBytes: maxStoredBytes
        case .maxAnswerBytes: maxAnswerBytes
        case .eventsKept: eventsKept
        case .auditRetention: auditRetention
        case .retention: retention
        default: access.value(of: setting) ?? database.value(of: setting) ?? push.value(of: setting)
        }
    }
}

extension ArgumentHelp {
    /// - Parameter value: the name of the value in the help, such as "file".
    init(_ setting: Setting, _ value: String) { self.init(setting.help, valueName: value) }
}

/// The flags of a database that several hosts share, as text.
struct DatabaseFlags: ParsableArguments {
    @Option(name: .customLong("database"), help: ArgumentHelp(.database, "url"))
    var url: String?

    @Option(
        name: .customLong("database-password-file"), help: ArgumentHelp(.databasePasswordFile, "file"),
        completion: .file())
    var passwordFile: String?

    @Option(name: .customLong("host-name"), help: ArgumentHelp(.hostName, "name"))
    var hostName: String?

    @Option(name: .customLong("host-lease"), help: ArgumentHelp(.hostLease, "milliseconds"))
    var hostLease: String?

    /// The flag's value, or `nil` if it was not given, or is not one of these flags.
    func value(of setting: Setting) -> String? {
        switch setting {
        case .database: url
        case .databasePasswordFile: passwordFile
        case .hostName: hostName
        case .hostLease: hostLease
        default: nil
        }
    }
}

/// The flags for access to the control socket, as text.
struct AccessFlags: ParsableArguments {
    @Option(name: .customLong("socket-group"), help: ArgumentHelp(.socketGroup, "group"))
    var group: String?

    @Option(name: .customLong("may-look"), help: ArgumentHelp(.mayLook, "list"))
    var mayLook: String?

    @Option(name: .customLong("may-decide"), help: ArgumentHelp(.mayDecide, "list"))
    var mayDecide: String?

    /// The flag's value, or `nil` if it was not given, or is not one of these flags.
    func value(of setting: Setting) -> String? {
        switch setting {
        case .socketGroup: group
        case .mayLook: mayLook
        case .mayDecide: mayDecide
        default: nil
        }
    }
}
