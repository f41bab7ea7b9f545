extension Setting {
    /// A value as it may stand in a config file: the default where that is a fixed text, else one that shows the form.
    var sample: String {
        switch self {
        case .stateDir: "/var/lib/oob-agent"
        case .socket: "/run/oob-agent/control.sock"
        case .socketGroup: "oob-approvers"
        case .mayLook: "alice, group:auditors"
        case .mayDecide: "alice"
        case .secretFile: "/etc/oob-agent/secret"
        case .previousSecretFile: "/etc/oob-agent/previous-secret"
        case .logLevel: "info"
        case .logFormat: "text"
        case .exponentPolicy: "refuse"
        case .allowTestAuthenticators, .pushBehindProxy: "false"
        case .clientCert: "/etc/oob-agent/client.crt"
        case .clientKey: "/etc/oob-agent/client.key"
        case .proxy: "http://proxy.example:3128"
        case .pushListen: "127.0.0.1:8443"
        case .pushURL: "https://push.bank.example"
        case .pushTLSCert: "/etc/oob-agent/push.crt"
        case .pushTLSKey: "/etc/oob-agent/push.key"
        case .pushVAPID: "required"
        case .metricsListen: "127.0.0.1:9464"
        case .pkcs11Module: "/usr/lib/x86_64-linux-gnu/p11-kit-proxy.so"
        case .tpmTCTI: "device:/dev/tpmrm0"
        default: Bound.of[self].map { "\($0.usual)" } ?? ""
        }
    }
}
