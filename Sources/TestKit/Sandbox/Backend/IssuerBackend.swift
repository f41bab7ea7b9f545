import FoundationEssentials
import GRDB
import IssuerProtocol
import Keys
package import Logging

/// All that the sandbox's calls work on.
package struct IssuerBackend: Sendable {
    let store: SandboxStore
    let signer: IssuerSigner
    /// Those it was made with, with the time of the test's clock if there is one.
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
        // A slow answer is slow in real time, whatever a test's clock says.
        self.faults = Faults(faults, sleep: dependencies.sleep, logger: logger)
        notifier = ChangeNotifier(maxWaiters: maxWaiters, sleep: self.dependencies.sleep)
    }

    /// Tells of what is wrong, and of nothing else.
    package static var quietLogger: Logger {
        var logger = Logger(label: "oob-issuer")
        logger.logLevel = .warning
        return logger
    }

    var now: Int64 { dependencies.now() }

    /// The authenticator whose token came, as it is now.
    ///
    /// A missing, unknown or ended one is `invalid_token`, without a word on which.
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
