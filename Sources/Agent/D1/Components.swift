extension D1Task {
    /// What a `D1Task` is made from; each is what a phone would have of its own.
    public struct Components: Sendable {
        /// The issuer's URL, such as `https://bank.example`.
        public var d1ServiceURLString: String?
        /// An absolute path to a directory of this app's alone, made if it is missing: keys and requests lie there.
        public var stateDirectory: String?
        /// The file with the secret that all keys are wrapped with, 16 to 1024 bytes; nil: made in the state directory.
        public var secretFile: String?
        /// Certificates in PEM that replace the system's roots for this issuer.
        public var trustedRoots: String?
        /// Where the app gets an enrollment code from, such as its own backend; asked once for each enrollment.
        public var enrollmentCode: (@Sendable () async throws -> String)?
        /// Asks for the PIN, which an enrollment sets and every approval takes: 4 to 64 characters.
        ///
        /// It is given the delegate's prompt. Nil is the payer going away: nothing is decided then.
        public var pin: (@Sendable (_ prompt: String) async throws -> String?)?
        /// How long a decision waits for the issuer's answer; it is delivered all the same if that comes later.
        public var deliveryTimeout: Duration = .seconds(10)

        /// Nothing is set yet.
        public init() {}

        /// Makes the task; nothing is read or written before `configure`.
        public func task() -> D1Task { D1Task(self) }
    }
}

/// What `configure` can be told.
public struct ConfigParams: Hashable, Sendable {
    let consumerID: String

    /// - Parameter consumerID: 1 to 256 bytes by which the issuer lists this authenticator.
    public static func coreConfig(consumerID: String) -> ConfigParams { ConfigParams(consumerID: consumerID) }
}
