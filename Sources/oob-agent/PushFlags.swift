import ArgumentParser

/// The flags of the push receiver, as text.
struct PushFlags: ParsableArguments {
    @Option(name: .customLong("push-listen"), help: help(.pushListen, "address:port"))
    var listen: String?

    @Option(name: .customLong("push-url"), help: help(.pushURL, "url"))
    var url: String?

    @Option(name: .customLong("push-tls-cert"), help: help(.pushTLSCert, "file"), completion: .file())
    var certificate: String?

    @Option(name: .customLong("push-tls-key"), help: help(.pushTLSKey, "file"), completion: .file())
    var key: String?

    @Option(
        name: .customLong("push-behind-proxy"), help: help(.pushBehindProxy, "true|false"),
        completion: .list(["true", "false"]))
    var behindProxy: String?

    @Option(
        name: .customLong("push-vapid"), help: help(.pushVAPID, "who"), completion: .list(["required", "upstream"]))
    var vapid: String?

    private static func help(_ setting: Setting, _ value: String) -> ArgumentHelp {
        ArgumentHelp(setting.help, valueName: value)
    }

    /// Nil for what was not given, and for a setting that is none of these.
    func value(of setting: Setting) -> String? {
        switch setting {
        case .pushListen: listen
        case .pushURL: url
        case .pushTLSCert: certificate
        case .pushTLSKey: key
        case .pushBehindProxy: behindProxy
        case .pushVAPID: vapid
        default: nil
        }
    }
}
