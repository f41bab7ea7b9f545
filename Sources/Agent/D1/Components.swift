extension D1Task {
    /// The settings and callbacks of a `D1Task`: on a phone, the device provides them.
    public struct Components: Sendable {
        /// The issuer's URL, such as `https://bank.example`.
        public var d1ServiceURLString: String?
        /// Absolute path of this app's own directory for keys and requests, which is made if it is missing.
        public var stateDirectory: String?
        /// File with the secret that wraps all keys, 16 to 1024 bytes.
        ///
        /// If it is `nil`, a secret is made in the state directory.
        public var secretFile: String?
        /// Certificates in PEM that replace the system's roots for this issuer.
        public var trustedRoots: String?
        /// The source of enrollment codes, such as the app's own backend; called once for each enrollment.
        public var enrollmentCode: (@Sendable () async throws -> String)?
        /// Asks for the PIN, 4 to 64 characters.
        ///
        /// An enrollment sets the PIN and every approval requires it.
        ///
        /// The argument is the delegate's prompt. A result of `nil` means that the payer has left: then there is no
        /// decision.
        public var pin: (@Sendable (_ prompt: String) async throws -> String?)?
        /// The time that a decision waits for the issuer's answer; delivery goes on after it.
        public var deliveryTimeout: Duration = .seconds(10)

        /// Makes components without any setting.
        public init() {}

        /// Makes the task; no file is read or written before `configure`.
        public func task() -> D1Task { D1Task(self) }
    }
}

/// A parameter of `configure`.
public struct ConfigParams: Hashable, Sendable {
    let consumerID: String

    /// - Parameter consumerID: 1 to 256 bytes, the name under which the issuer lists this authenticator.
    public static func coreConfig(consumerID: String) -> ConfigParams { ConfigParams(consumerID: consumerID) }
}
