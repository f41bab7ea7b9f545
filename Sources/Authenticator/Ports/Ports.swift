// The ports: what the core needs from the outside, named for the role it plays. Each is implemented at an edge.

package import IssuerProtocol
package import Keys
import ThreeDS

/// Where the core learns what time it is, and waits.
package protocol AgentClock: Sendable {
    /// Wall clock, whole seconds since 1970-01-01 UTC.
    var now: Int64 { get }
    /// Seconds since some moment: it only grows, also if someone sets the wall clock back.
    var steady: Double { get }
    /// Waits for at least `seconds`; throws `CancellationError` when the task is cancelled meanwhile.
    func sleep(seconds: Double) async throws
    /// Does something short once `seconds` have passed, unless that is called off before.
    func alarm(after seconds: Double, _ action: @escaping @Sendable () -> Void) -> Alarm
}

/// A clock that tests set forward.
package protocol AdvanceableClock: AgentClock {
    /// How many seconds it is ahead of the machine's.
    var offset: Int64 { get }
    /// Sets it so far ahead of the machine's, and never back; what is due by then rings at once.
    func advance(to offset: Int64)
}

extension AgentClock {
    /// For a clock that nobody sets.
    package var steady: Double { Double(now) }
}

extension Int64 {
    /// Whether this time is at most so many seconds after another, and not before it.
    ///
    /// What was noted before the clock was set back is of no use any more.
    func isWithin(_ seconds: Int64, of other: Int64) -> Bool { other <= self && self.seconds(since: other) < seconds }
}

/// Where randomness comes from.
package protocol Entropy: Sendable {
    /// `count` bytes fit for keys, ids and nonces.
    func bytes(_ count: Int) throws -> [UInt8]
}

/// Makes private keys, and can use them.
///
/// A key of the agent's own is kept sealed in its enrollment's row; one that the agent did not make is where its URI says.
package protocol KeyCustody: Sendable {
    /// Makes a key pair; the private half, sealed, is for the store to keep.
    ///
    /// - Parameters:
    ///   - name: the enrollment; what is sealed opens for no other.
    ///   - pin: what the key is to be opened with, and with nothing else; nil: nothing of the user's.
    func makeKey(of name: EnrollmentID, algorithm: SignatureAlgorithm, pin: PIN?) async throws -> MadeKey
    /// Opens a key of the agent's own with one PIN, and seals it under another.
    ///
    /// - Returns: the same key sealed anew, for the store to keep; until then the old PIN is the right one.
    /// - Throws: `CustodyError`.
    func changePIN(of key: KeyReference, from old: PIN, to new: PIN) async throws -> [UInt8]
    /// Opens the key of an enrollment for one decision.
    ///
    /// - Parameter pin: for a key that takes one; given for any other, none is opened.
    /// - Throws: `CustodyError`.
    func unlock(_ key: KeyReference, pin: PIN?) async throws -> any UnlockedKey
    /// Whether ``unlock(_:pin:)`` needs nothing but memory, so that nothing has to cut it off.
    func opensAtOnce(_ key: KeyReference, pin: PIN?) -> Bool
    /// Checks that a key of the agent's own could be opened, as far as that can be told without a PIN.
    func check(_ key: KeyReference) async throws(CustodyError)
}

extension KeyCustody {
    package func opensAtOnce(_ key: KeyReference, pin: PIN?) -> Bool { false }
}

/// Finds keys that the agent did not make.
package protocol ExternalKeyInspection: Sendable {
    /// Looks at a key, and tries no PIN.
    func sighting(_ uri: KeyURI) async throws -> KeySighting
    /// Looks at a key, and lets it show that it signs.
    ///
    /// - Parameter pin: for a key that takes one.
    /// - Throws: `CustodyError`; `CancellationError` if nobody waited: what the key did with the PIN is not known then.
    func inspect(_ uri: KeyURI, pin: PIN?) async throws -> ExternalKey
}

/// For an agent whose keys are all its own.
package struct NoExternalKeys: ExternalKeyInspection {
    package init() {}

    package func sighting(_ uri: KeyURI) async throws(CustodyError) -> KeySighting { throw .notItsOwn(uri) }

    package func inspect(_ uri: KeyURI, pin: PIN?) async throws(CustodyError) -> ExternalKey { throw .notItsOwn(uri) }
}

extension CustodyError {
    /// The agent can use no key but those that it made.
    package static func notItsOwn(_ uri: KeyURI) -> CustodyError {
        CustodyError(.unavailable, "the key \(uri.text) is not one of the agent's own")
    }
}

/// Encrypts what must not be in clear in the store; what was sealed for one enrollment opens for no other.
package protocol SecretSealing: Sendable {
    /// Encrypts an access token for the store.
    func seal(_ token: AccessToken, for name: EnrollmentID) throws -> [UInt8]
    /// Opens what ``seal(_:for:)`` made for the same enrollment.
    func open(_ sealed: [UInt8], for name: EnrollmentID) throws -> AccessToken
    /// Encrypts the private key and the auth secret of a push subscription for the store.
    func seal(_ key: PushReceiverKey, for name: EnrollmentID) throws -> [UInt8]
    /// Opens what was sealed so for the same enrollment.
    func openPushKey(_ sealed: [UInt8], for name: EnrollmentID) throws -> PushReceiverKey
}

/// A key that is open for one decision.
///
/// It says itself whether it verified the user: nobody else can know.
package protocol UnlockedKey: Sendable {
    /// Whether it could be opened only with the PIN that was given, and that was right.
    var verifiesUser: Bool { get }
    /// Its public half, as it was found with the private one.
    var publicKey: PublicKey { get }
    /// Proves that the key signs and that the public half verifies it.
    ///
    /// No relying party can take what is signed for an assertion.
    ///
    /// - Throws: `CustodyError` if it does not.
    func prove() throws
    /// Signs what a permit allows, and nothing else can be signed.
    func signature(for permit: SigningPermit) async throws -> [UInt8]
    /// Whether it signs in memory, so that nothing has to cut it off.
    var signsAtOnce: Bool { get }
}

extension UnlockedKey {
    package var signsAtOnce: Bool { false }
}

/// How an issuer is reached: its URL, and the roots that replace the system's for it.
package struct IssuerTarget: Hashable, Sendable {
    package let issuer: IssuerURL
    /// PEM certificates, as they were given.
    package let rootsPEM: String?

    package init(issuer: IssuerURL, rootsPEM: String?) {
        self.issuer = issuer
        self.rootsPEM = rootsPEM
    }
}

/// What an authenticated call needs.
package struct IssuerAccess: Sendable {
    package let target: IssuerTarget
    package let discovery: Discovery
    package let token: AccessToken
}

/// Why a call to an issuer brought no answer that can be used.
package enum IssuerError: Error, Sendable {
    /// The issuer answered with a problem whose code the protocol lists: it ends what was tried.
    case problem(Problem)
    /// Anything else, such as no connection, a proxy's page, a redirect, garbage or 5xx.
    ///
    /// The same may be tried again, not before `retryAfter` seconds if the server asked for that.
    case transient(reason: String, retryAfter: Int64?)

    /// One sentence for logs and people; carries no body and no token.
    package var reason: String {
        switch self {
        case .problem(let problem): problem.code.map { "the issuer answered \($0.rawValue)" } ?? "the issuer refused"
        case .transient(let reason, _): reason
        }
    }
}

/// The calls of the issuer protocol.
///
/// Nothing is repeated here; whoever calls decides about that.
package protocol IssuerGateway: Sendable {
    /// What is wrong with the PEM of an issuer's roots, as a sentence; nil: a route can be used with it.
    nonisolated func problem(withRoots pem: String) -> String?
    func discovery(_ target: IssuerTarget) async throws(IssuerError) -> Discovery
    func keys(_ target: IssuerTarget, _ discovery: Discovery) async throws(IssuerError) -> JWKSet
    func enrollmentOptions(
        _ target: IssuerTarget, _ discovery: Discovery, code: EnrollmentCode
    ) async throws(IssuerError) -> EnrollmentOptionsAnswer
    /// Sends the bytes of an enrollment as they are.
    func enroll(
        _ target: IssuerTarget, _ discovery: Discovery, body: [UInt8]
    ) async throws(IssuerError) -> EnrollmentAnswer
    /// Fetches requests: what came after `cursor`, waiting for it up to `wait` seconds.
    func fetch(_ access: IssuerAccess, wait: Int, after cursor: String?) async throws(IssuerError) -> RequestList
    /// Fetches for many authenticators of one issuer, which must have an endpoint for that.
    func batchFetch(
        _ target: IssuerTarget, _ discovery: Discovery, request: BatchFetchRequest
    ) async throws(IssuerError) -> BatchFetchAnswer
    /// Sends the bytes of a decision as they are.
    func decide(
        _ access: IssuerAccess, jti: TokenID, body: [UInt8], traceparent: String?
    ) async throws(IssuerError) -> TransStatus
    /// The greatest signCount that the issuer accepted.
    func status(_ access: IssuerAccess) async throws(IssuerError) -> AuthenticatorStatus
    func unenroll(_ access: IssuerAccess) async throws(IssuerError)
    /// Puts the push subscription in the place of the one that the issuer may have.
    func subscribe(_ access: IssuerAccess, _ subscription: PushSubscription) async throws(IssuerError)
    /// Ends the push subscription; one that is not there is no failure.
    func unsubscribe(_ access: IssuerAccess) async throws(IssuerError)
}

/// Who makes the key that signs the journal's marks, and seals it for the store; it is no credential's key.
package protocol AuditKeys: Sendable {
    /// A new key, sealed.
    func make() throws -> [UInt8]
    /// Opens what ``make()`` gave.
    func open(_ sealed: [UInt8]) throws -> any JournalSigner
}

/// The audit key, opened.
package protocol JournalSigner: Sendable {
    /// ES256.
    var publicKey: PublicKey { get }
    /// A DER ECDSA-Sig-Value over the statement's bytes; nothing else can be signed.
    ///
    /// It is made inside a database transaction, so it must be quick.
    func signature(for statement: JournalStatement) throws -> [UInt8]
}

/// Everything the core needs, in one value for the place that wires it; ``Agent`` puts around it what the core adds.
///
/// A class, though nothing of it changes: all parts of the core have it, and a copy would be half a kilobyte and a dozen
/// references each time.
package final class Ports: Sendable {
    package let store: any Store
    /// How that store is, as whoever watches it has noted.
    package let storeHealth: StoreHealth
    /// One try of a key's PIN at a time, whoever makes it; not for keys of the agent's own.
    let keyQueues: KeyedQueue<KeyIdentity>
    /// Which enrollments are this host's to poll and deliver for; nil if it has the store to itself.
    package let shares: (any WorkShares)?
    package let custody: any KeyCustody
    package let externalKeys: any ExternalKeyInspection
    package let sealing: any SecretSealing
    package let auditKeys: any AuditKeys
    package let gateway: any IssuerGateway
    /// When something happens, and when something is due: the clock of a test, if there is one.
    package let clock: any AgentClock
    /// The same clock if tests may set it forward; nil: it is the machine's.
    let testClock: (any AdvanceableClock)?
    /// For how long a client or an issuer is waited for: the machine's, also in a test.
    let patience: any AgentClock
    package let entropy: any Entropy
    package let inspector: any HostInspector

    /// - Parameters:
    ///   - clock: the machine's.
    ///   - testClock: what takes its place for all but patience.
    ///   - shares: what of the work is this host's; nil if it has the store to itself.
    package init(
        store: any Store, custody: any KeyCustody, externalKeys: any ExternalKeyInspection = NoExternalKeys(),
        sealing: any SecretSealing, auditKeys: any AuditKeys, gateway: any IssuerGateway, clock: any AgentClock,
        testClock: (any AdvanceableClock)? = nil, shares: (any WorkShares)? = nil,
        entropy: any Entropy, inspector: any HostInspector = NoHostInspector()
    ) {
        self.store = store
        storeHealth = StoreHealth()
        keyQueues = KeyedQueue()
        self.shares = shares
        self.custody = custody
        self.externalKeys = externalKeys
        self.sealing = sealing
        self.auditKeys = auditKeys
        self.gateway = gateway
        self.clock = testClock ?? clock
        self.testClock = testClock
        patience = clock
        self.entropy = entropy
        self.inspector = inspector
    }

    /// The same as others, with some in the place of theirs.
    private init(
        like ports: Ports, store: (any Store)? = nil, custody: (any KeyCustody)? = nil,
        inspector: (any HostInspector)? = nil
    ) {
        self.store = store ?? ports.store
        storeHealth = ports.storeHealth
        keyQueues = ports.keyQueues
        shares = ports.shares
        self.custody = custody ?? ports.custody
        externalKeys = ports.externalKeys
        sealing = ports.sealing
        auditKeys = ports.auditKeys
        gateway = ports.gateway
        clock = ports.clock
        testClock = ports.testClock
        patience = ports.patience
        entropy = ports.entropy
        self.inspector = inspector ?? ports.inspector
    }

    /// The same, with another store and custody in the place of these.
    func with(store: any Store, custody: any KeyCustody) -> Ports { Ports(like: self, store: store, custody: custody) }

    /// The same with another look at the host.
    package func with(inspector: any HostInspector) -> Ports { Ports(like: self, inspector: inspector) }
}
