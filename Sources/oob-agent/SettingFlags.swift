import ArgumentParser

/// The flags of all settings, as text: what is allowed is checked in one place, wherever a setting comes from.
struct SettingFlags: ParsableArguments {
    @Option(help: ArgumentHelp("The config file (YAML).", valueName: "file"), completion: .file())
    var config: String?

    @Option(
        name: .customLong("state-dir"), help: ArgumentHelp(Setting.stateDir.help, valueName: "dir"),
        completion: .directory)
    var stateDir: String?

    @Option(help: ArgumentHelp(Setting.socket.help, valueName: "path"), completion: .file())
    var socket: String?

    @Option(
        name: .customLong("secret-file"), help: ArgumentHelp(Setting.secretFile.help, valueName: "file"),
        completion: .file())
    var secretFile: String?

    @Option(
        name: .customLong("previous-secret-file"),
        help: ArgumentHelp(Setting.previousSecretFile.help, valueName: "file"), completion: .file())
    var previousSecretFile: String?

    @Option(
        name: .customLong("log-level"), help: ArgumentHelp(Setting.logLevel.help, valueName: "level"),
        completion: .list(["debug", "info", "notice", "warning", "error"]))
    var logLevel: String?

    @Option(
        name: .customLong("log-format"), help: ArgumentHelp(Setting.logFormat.help, valueName: "format"),
        completion: .list(["text", "json"]))
    var logFormat: String?

    @Option(
        name: .customLong("exponent-policy"), help: ArgumentHelp(Setting.exponentPolicy.help, valueName: "policy"),
        completion: .list(["refuse", "warn"]))
    var exponentPolicy: String?

    @Option(
        name: .customLong("allow-test-authenticators"),
        help: ArgumentHelp(Setting.allowTestAuthenticators.help, valueName: "true|false"),
        completion: .list(["true", "false"]))
    var allowTestAuthenticators: String?

    @Option(
        name: .customLong("client-cert"), help: ArgumentHelp(Setting.clientCert.help, valueName: "file"),
        completion: .file())
    var clientCert: String?

    @Option(
        name: .customLong("client-key"), help: ArgumentHelp(Setting.clientKey.help, valueName: "file"),
        completion: .file())
    var clientKey: String?

    @Option(help: ArgumentHelp(Setting.proxy.help, valueName: "url"))
    var proxy: String?

    @OptionGroup var access: AccessFlags

    @OptionGroup var push: PushFlags

    @Option(
        name: .customLong("metrics-listen"), help: ArgumentHelp(Setting.metricsListen.help, valueName: "address:port"))
    var metricsListen: String?

    @Option(
        name: .customLong("pkcs11-module"), help: ArgumentHelp(Setting.pkcs11Module.help, valueName: "path"),
        completion: .file())
    var pkcs11Module: String?

    @Option(name: .customLong("tpm-tcti"), help: ArgumentHelp(Setting.tpmTCTI.help, valueName: "tcti"))
    var tpmTCTI: String?

    @OptionGroup var bounds: BoundFlags

    func value(of setting: Setting) -> String? {
        switch setting {
        case .stateDir: stateDir
        case .socket: socket
        case .secretFile: secretFile
        case .previousSecretFile: previousSecretFile
        case .logLevel: logLevel
        case .logFormat: logFormat
        case .exponentPolicy: exponentPolicy
        case .allowTestAuthenticators: allowTestAuthenticators
        case .clientCert: clientCert
        case .clientKey: clientKey
        case .proxy: proxy
        case .metricsListen: metricsListen
        case .pkcs11Module: pkcs11Module
        case .tpmTCTI: tpmTCTI
        default: access.value(of: setting) ?? push.value(of: setting) ?? bounds.value(of: setting)
        }
    }
}
