import StrictJSON
import TextAndTime

/// Settings in the form of a config file.
enum ConfigText {
    private static let width = 117

    /// A config file with every setting, commented out.
    static var sample: String {
        let head = """
            # The settings of oob-agent. Take away the # to set one; a variable (OOB_AGENT_LOG_LEVEL) or a flag
            # (--log-level) is stronger. Secrets are never here: settings name their files. Try a change with
            #   oob-agent --config FILE --check-config
            """
        return Setting.allCases.reduce(head) { text, setting in
            let help = lines(of: setting.help).map { "# \($0)" }.joined(separator: "\n")
            return text + "\n\n\(help)\n#\(setting.rawValue): \(scalar(setting.sample))"
        }
    }

    /// The settings that are set, each with its place, as a config file with the same values.
    static func found(in source: SettingSource) -> String {
        let head = source.config == nil ? "# No config file was named." : "# The config file is in order."
        let found = Setting.allCases.compactMap { setting in
            source.find(setting).map { "\(setting.rawValue): \(scalar($0.value))  # \(DisplayText($0.place).text)" }
        }
        return ([head] + found + ["# Each other setting has its default (--print-config)."]).joined(
            separator: "\n")
    }

    /// A YAML scalar that parses to exactly this text.
    private static func scalar(_ value: String) -> String {
        let isPlain =
            !value.isEmpty
            && value.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || "/._:-".utf8.contains(byte)
            } && !value.hasPrefix("-") && !value.hasPrefix(":") && !value.hasSuffix(":")
        if isPlain { return value }
        // A JSON string is a YAML string.
        return String(decoding: JSONValue.string(value).serialized(), as: UTF8.self)
    }

    private static func lines(of text: String) -> [String] {
        text.split(separator: " ").reduce(into: [String]()) { lines, word in
            if let last = lines.last, last.utf8.count + 1 + word.utf8.count <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
    }
}

extension Setting {
    /// A value for the sample config file: the default if it is a fixed text, otherwise an example.
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
        case .issuers: "https://bank.example, https://card.example:8443"
        case .allowTestAuthenticators, .testClock, .personaTags, .pushBehindProxy: "false"
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
        case .database: "postgres://oob-agent@db.bank.example/oob?sslrootcert=/etc/oob-agent/db-ca.pem"
        case .databasePasswordFile: "/etc/oob-agent/db-password"
        case .hostName: "agent-1"
        case .tpmTCTI: "device:/dev/tpmrm0"
        default: number.map { "\($0.usual)" } ?? ""
        }
    }
}
