import FoundationEssentials
import GRDB
import IssuerProtocol
import Keys
package import Logging

/// The shared state of the sandbox's calls.
package struct IssuerBackend: Sendable {
    let store: SandboxStore
    let signer: IssuerSigner
    /// The dependencies from the initializer, with the time of the test clock if there is one.
    let dependencies: SandboxDependencies
    let clock: MovableClock?
    let site: SiteHolder
    package let notifier: ChangeNotifier
    package let faults: Faults
    let fetchQuota = FetchQuota()
    let pushPolicy: PushPolicy
    let logger: Logger

    package init(
        store: SandboxStore, signer: IssuerSigner, site: SiteHolder, dependencies: SandboxDependencies = .system,
        maxWaiters: Int = 100_000, faults: FaultSpec? = nil,
        pushPolicy: PushPolicy = .loopbackOnly, logger: Logger = IssuerBackend.quietLogger
    ) {
        self.store = store
        self.signer = signer
        self.site = site
        let clock = store.clockOffset.map { MovableClock(over: dependencies, offset: $0) }
        self.clock = clock
        self.dependencies = clock?.dependencies ?? dependencies
        self.pushPolicy = pushPolicy
        self.logger = logger
        // A slow answer is slow in real time, not in the time of a test clock.
        self.faults = Faults(faults, sleep: dependencies.sleep, logger: logger)
        notifier = ChangeNotifier(maxWaiters: maxWaiters, sleep: self.dependencies.sleep)
    }

    /// A logger for warnings and errors only.
    package static var quietLogger: Logger {
        var logger = Logger(label: "oob-issuer")
        logger.logLevel = .warning
        return logger
    }

    var now: Int64 { dependencies.now() }

    /// Authenticates the caller by its token, and reads the authenticator's current record.
    ///
    /// A missing, unknown or ended token is `invalid_token`; the error does not say which.
    func authenticated(_ incoming: Incoming) async throws -> AuthenticatorRecord {
        guard let token = incoming.bearerToken else { throw Self.invalidToken }
        let digest = try SHA256Digest.of(Array(token.reveal().utf8))
        let found = try await store.read { db in
            try AuthenticatorRecord.row(db, "WHERE tokenDigest = ? AND endedAt IS NULL", [Data(digest)])
        }
        guard let found else { throw Self.invalidToken }
        return found
    }

    private static let invalidToken = SandboxError.listed(.invalidToken, "no enrolled authenticator has this token")
}
