import Authenticator
import IssuerLink

/// The settings, by the names of their flags and config members.
enum Setting: String, CaseIterable {
    case stateDir = "state-dir"
    case socket
    case socketGroup = "socket-group"
    case mayLook = "may-look"
    case mayDecide = "may-decide"
    case database
    case databasePasswordFile = "database-password-file"
    case hostName = "host-name"
    case hostLease = "host-lease"
    case secretFile = "secret-file"
    case previousSecretFile = "previous-secret-file"
    case logLevel = "log-level"
    case logFormat = "log-format"
    case exponentPolicy = "exponent-policy"
    case issuers
    case allowTestAuthenticators = "allow-test-authenticators"
    case testClock = "test-clock"
    case personaTags = "persona-tags"
    case clientCert = "client-cert"
    case clientKey = "client-key"
    case proxy
    case pushListen = "push-listen"
    case pushURL = "push-url"
    case pushTLSCert = "push-tls-cert"
    case pushTLSKey = "push-tls-key"
    case pushBehindProxy = "push-behind-proxy"
    case pushVAPID = "push-vapid"
    case pollIntervalWithPush = "poll-interval-with-push"
    case metricsListen = "metrics-listen"
    case pkcs11Module = "pkcs11-module"
    case tpmTCTI = "tpm-tcti"
    case maxUndecided = "max-undecided"
    case maxEnrollments = "max-enrollments"
    case maxStoredBytes = "max-stored-bytes"
    case maxAnswerBytes = "max-answer-bytes"
    case eventsKept = "events-kept"
    case auditRetention = "audit-retention"
    case retention

    /// The environment variable of the setting, such as OOB_AGENT_STATE_DIR.
    var variable: String {
        "OOB_AGENT_" + rawValue.uppercased().replacing("-", with: "_")
    }

    /// The advice for an unknown name if no known name is similar.
    static let advice = {
        let bounds: [Setting] = [
            .maxUndecided, .maxEnrollments, .maxStoredBytes, .maxAnswerBytes, .eventsKept, .auditRetention, .retention,
        ]
        return
            "oob-agent --help lists all. Bounds that can be set are \(bounds.map(\.rawValue).joined(separator: ", ")); "
            + "the others are constants, which docs/reference/limits.md lists"
    }()

    var help: String {
        switch self {
        case .stateDir:
            "Where the database and the secret are. Default: $STATE_DIRECTORY, $XDG_STATE_HOME/oob-agent, "
                + "~/.local/state/oob-agent."
        case .socket:
            "The control socket. Default: control.sock in $RUNTIME_DIRECTORY, $XDG_RUNTIME_DIR/oob-agent, the state "
                + "directory."
        case .socketGroup:
            "The group that the control socket is for, besides its owner: it gets mode 0660. Default: none, mode 0600."
        case .mayLook:
            "Who may look, besides root, the agent's own user and who may decide: users and groups, such as \"alice, "
                + "group:auditors\". Goes with socket-group. Default: socket-group."
        case .mayDecide:
            "Who may also decide, enroll and unenroll, likewise. Goes with socket-group. Default: socket-group."
        case .database:
            "The PostgreSQL database (preview) that several hosts share, postgres://USER@HOST[:PORT]/DATABASE?sslrootcert=FILE "
                + "or postgres:///DATABASE?host=DIRECTORY of a Unix socket. Default: a file in state-dir. Goes with host-name."
        case .databasePasswordFile:
            "The file that holds the password of the database's user. Default: none; the server has to know the user by "
                + "other means."
        case .hostName:
            "The name of this host among those that share the database: lower-case letters, digits, hyphens and dots. It "
                + "names the host's part of the journal, so it stays. Goes with database."
        case .secretFile:
            "The secret that encrypts the keys, 16 to 1,024 bytes. Default: $CREDENTIALS_DIRECTORY/secret, else one "
                + "that is made in the state directory."
        case .previousSecretFile:
            "The secret that was used before: all that it encrypts is encrypted anew under the present one while the agent "
                + "runs. Default: $CREDENTIALS_DIRECTORY/previous-secret, if it is there."
        case .logLevel: "debug, info, notice, warning or error. Default: info."
        case .logFormat: "text or json. Default: text."
        case .exponentPolicy:
            "What happens to a purchaseExponent that is not ISO 4217's: refuse or warn. Default: refuse."
        case .issuers:
            "The issuers that enroll may name, as origins, such as \"https://bank.example, https://card.example:8443\". "
                + "Enrollments that are there stay. Default: any issuer."
        case .allowTestAuthenticators:
            "Whether authnType test is allowed at issuers that are not on loopback. Default: false."
        case .testClock:
            "Whether oobctl clock advance may advance the agent's clock, for a state whose enrollments are all of authnType "
                + "test. Default: false."
        case .personaTags:
            "Whether a transaction of a test enrollment may name the persona that answers it. Default: false."
        case .clientCert:
            "The certificate that is shown to issuers that ask for one (mutual TLS), PEM. Goes with client-key."
        case .clientKey: "The private key of client-cert, PEM, not encrypted; a file that only its owner can read."
        case .proxy:
            "An HTTP proxy to the issuers, http://HOST:PORT; issuers on loopback are reached without it. The "
                + "environment variables of other programs (HTTPS_PROXY) mean nothing here."
        case .pushListen:
            "Where pushes are taken, ADDRESS:PORT or [ADDRESS]:PORT. Default: nowhere; then requests come by polls alone. "
                + "Goes with push-url."
        case .pushURL:
            "What issuers see of that address, such as https://push.bank.example. Goes with push-listen."
        case .pushTLSCert: "The certificate of push-listen, PEM. Goes with push-tls-key."
        case .pushTLSKey:
            "The private key of push-tls-cert, PEM, not encrypted; a file that only its owner can read."
        case .pushBehindProxy:
            "Whether a proxy in front of push-listen speaks TLS: only then is plain HTTP taken on an address that is not "
                + "loopback. Default: false."
        case .pushVAPID:
            "Who checks that a push is its issuer's: required (the agent), or upstream (a push service in front). Default: "
                + "required."
        case .metricsListen:
            "The address of a metrics server for programs on this host, ADDRESS:PORT or [ADDRESS]:PORT, loopback only. "
                + "Default: none; metrics are on the control socket alone."
        case .pkcs11Module:
            "The PKCS #11 module for keys with a pkcs11: URI, an absolute path. Default: none; such keys are refused."
        case .tpmTCTI:
            "How the TPM is reached for keys in it, as tpm2-tss has it, such as device:/dev/tpmrm0. Default: "
                + "$TPM2OPENSSL_TCTI, else what tpm2-tss finds."
        case .hostLease:
            "The milliseconds for which a host's part of the work stays with it though it does not renew that; the same on "
                + "all hosts of the database, \(numbers)."
        case .pollIntervalWithPush: "The seconds from one poll to the next while pushes come, \(numbers)."
        case .maxUndecided: "The most undecided requests of one enrollment, \(numbers)."
        case .maxEnrollments:
            "The most enrollments that have not ended, \(numbers), or \(AgentBounds.enrollmentsOfHosts) with a database that "
                + "hosts share."
        case .maxStoredBytes:
            "The most bytes that are stored of what one issuer sends, \(numbers), or \(AgentBounds.storedBytesOfHosts) with a "
                + "database that hosts share."
        case .maxAnswerBytes: "The most bytes of all issuers' answers that are being read, \(numbers)."
        case .eventsKept: "From how many of the journal's newest entries events are replayed, \(numbers)."
        case .auditRetention: "The days for which the journal's entries are kept, \(numbers)."
        case .retention: "The days for which requests that are over are kept, and known again, \(numbers)."
        }
    }

    /// The range and the default as help text.
    ///
    /// Empty if the setting is not a whole number.
    private var numbers: String {
        number.map { "\($0.range.lowerBound) to \($0.range.upperBound). Default: \($0.usual)" } ?? ""
    }

    /// The range and the default of a setting that is a whole number.
    ///
    /// `nil` for others.
    ///
    /// Other limits are not settings: docs/reference/limits.md lists them.
    var number: (range: ClosedRange<Int>, usual: Int)? {
        switch self {
        case .hostLease: (300...60_000, 15_000)
        case .pollIntervalWithPush: (1...3_600, Int(PushSettings.usualPollInterval))
        case .maxUndecided: (1...100_000, AgentBounds.standard.undecided)
        case .maxEnrollments: (1...AgentBounds.enrollmentsOfHosts, AgentBounds.standard.enrollments)
        case .maxStoredBytes: (1 << 20...1 << 50, AgentBounds.standard.storedBytes)
        case .maxAnswerBytes: (AnswerBounds.leastBytesInAll...1 << 30, AnswerBounds.standard.bytesInAll)
        case .eventsKept: (1_000...10_000_000, 100_000)
        case .auditRetention: (30...3_660, 400)
        case .retention: (2...3_660, 400)
        default: nil
        }
    }
}
