/// Every setting, by the name that its flag and its config member have.
enum Setting: String, CaseIterable {
    case stateDir = "state-dir"
    case socket
    case secretFile = "secret-file"
    case logLevel = "log-level"
    case logFormat = "log-format"
    case exponentPolicy = "exponent-policy"
    case maxUndecided = "max-undecided"
    case allowTestAuthenticators = "allow-test-authenticators"
    case clientCert = "client-cert"
    case clientKey = "client-key"
    case proxy

    /// The environment variable of the setting, such as OOB_AGENT_STATE_DIR.
    var variable: String {
        "OOB_AGENT_" + rawValue.uppercased().replacing("-", with: "_")
    }

    var help: String {
        switch self {
        case .stateDir:
            "Where keys and database are. Default: $STATE_DIRECTORY, $XDG_STATE_HOME/oob-agent, "
                + "~/.local/state/oob-agent."
        case .socket:
            "The control socket. Default: control.sock in $RUNTIME_DIRECTORY, $XDG_RUNTIME_DIR/oob-agent, the state "
                + "directory."
        case .secretFile:
            "The secret that encrypts the keys, 16 to 1,024 octets. Default: $CREDENTIALS_DIRECTORY/secret, else one "
                + "that is made in the state directory."
        case .logLevel: "debug, info, notice, warning or error. Default: info."
        case .logFormat: "text or json. Default: text."
        case .exponentPolicy:
            "What happens to a purchaseExponent that is not ISO 4217's: refuse or warn. Default: refuse."
        case .maxUndecided: "The most undecided requests of one enrollment, 1 to 100,000. Default: 1000."
        case .allowTestAuthenticators:
            "Whether authnType test is allowed at issuers that are not on loopback. Default: false."
        case .clientCert:
            "The certificate that is shown to issuers that ask for one (mutual TLS), PEM. Goes with client-key."
        case .clientKey: "The private key of client-cert, PEM, not encrypted; a file that only its owner can read."
        case .proxy:
            "An HTTP proxy to the issuers, http://HOST:PORT; issuers on loopback are reached without it. The "
                + "environment variables of other programs (HTTPS_PROXY) mean nothing here."
        }
    }
}
