import ArgumentParser

/// The flags of the push receiver, as text.
struct PushFlags: ParsableArguments {
    @Option(name: .customLong("push-listen"), help: ArgumentHelp(.pushListen, "address:port"))
    var listen: String?

    @Option(name: .customLong("push-url"), help: ArgumentHelp(.pushURL, "url"))
    var url: String?

    @Option(name: .customLong("push-tls-cert"), help: ArgumentHelp(.pushTLSCert, "file"), completion: .file())
    var certificate: String?

    @Option(name: .customLong("push-tls-key"), help: ArgumentHelp(.pushTLSKey, "file"), completion: .file())
    var key: String?

    @Option(
        name: .customLong("push-behind-proxy"), help: ArgumentHelp(.pushBehindProxy, "true|false"),
        completion: .list(["true", "false"]))
    var behindProxy: String?

    @Option(
        name: .customLong("push-vapid"), help: ArgumentHelp(.pushVAPID, "who"),
        completion: .list(["required", "upstream"]))
    var vapid: String?

    @Option(name: .customLong("poll-interval-with-push"), help: ArgumentHelp(.pollIntervalWithPush, "seconds"))
    var pollInterval: String?

    /// The flag's value, or `nil` if it was not given, or is not one of these flags.
    func value(of setting: Setting) -> String? {
        switch setting {
        case .pushListen: listen
        case .pushURL: url
        case .pushTLSCert: certificate
        case .pushTLSKey: key
        case .pushBehindProxy: behindProxy
        case .pushVAPID: vapid
        case .pollIntervalWithPush: pollInterval
        default: nil
        }
    }
}
