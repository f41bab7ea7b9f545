internal import AsyncHTTPClient
internal import LinuxProcess
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
import Records
internal import ServerCertificates
internal import Synchronization

/// Limits of the HTTP clients.
struct TransportLimits: Sendable {
    /// Limit for polls at a time, of all issuers; each poll has a connection, and so a file descriptor.
    var polls = FileLimit.polls
    /// Limit for other calls at a time, of all issuers.
    var calls = FileLimit.calls
    /// Limit for connections for other calls to one host name.
    var callConnections = 100
    /// The seconds that a call waits for its place.
    var placeSeconds: Double = 25
    /// From this number of open connections on, no connection is kept alive for the next call.
    var keptConnections: Int { polls / 4 }
    /// The budgets for answers.
    var room = AnswerRoom.Bounds.standard
    /// Limit for different sets of root certificates in use at a time.
    var sets = 256
    var connectSeconds: Int64 = 10
    /// The seconds that an idle connection is kept: fewer than the agent waits before it returns memory to the kernel.
    var idleSeconds: Int64 = 8

    /// The limits for the files that this process may open.
    static var standard: TransportLimits { TransportLimits() }
}

/// The key of a pair of clients in the cache.
struct ClientNeeds: Hashable, Sendable {
    /// Root certificates in PEM.
    ///
    /// `nil` for the system's roots.
    ///
    /// Unicode-equivalent texts contain the same certificates, because PEM is ASCII.
    let roots: String?
    let proxy: HTTPProxy?
    /// A new identity gets new clients.
    ///
    /// The old clients finish their calls, and are shut down when room is needed.
    let identity: ClientIdentity?
}

/// The clients for one set of root certificates, with a proxy or without.
struct ClientPair: Sendable {
    private let calls: HTTPClient
    private let polls: HTTPClient

    init(tls: TLSConfiguration, proxy: HTTPProxy?, limits: TransportLimits, open: OpenConnections) {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(limits.connectSeconds)), decompression: .disabled)
        configuration.proxy = proxy.map { .server(host: $0.host, port: $0.port) }
        configuration.httpVersion = .http1Only
        // The agent has no tracer. With the library's default tracer, each call would make a span for no use.
        configuration.tracing.tracer = nil
        // The caller decides about retries, and gets the reason at once.
        configuration.connectionPool.idleTimeout = .seconds(limits.idleSeconds)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = limits.callConnections
        configuration.http1_1ConnectionDebugInitializer = { channel in
            open.follow(channel)
            return SubjectAltName.require(on: channel).flatMap { HeadGuard.guardConnection(channel) }
        }
        // A single event loop for all work of a client: otherwise a call would move from one thread to another.
        let loops = MultiThreadedEventLoopGroup.singleton
        calls = HTTPClient(eventLoopGroupProvider: .shared(loops.next()), configuration: configuration)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(limits.polls, 1)
        polls = HTTPClient(eventLoopGroupProvider: .shared(loops.next()), configuration: configuration)
    }

    func client(for pool: IssuerCall.ConnectionPool) -> HTTPClient {
        switch pool {
        case .calls: calls
        case .polls: polls
        }
    }

    /// Shuts both clients down; calls that are in progress fail.
    func shutdown() async {
        try? await calls.shutdown()
        try? await polls.shutdown()
    }
}

/// A pair of clients for each key, made at its first use; the least recently used pair is evicted.
final class ClientCache: Sendable {
    private struct Entry {
        let pair: ClientPair
        var users: Int
        let lastUse: Int
    }

    private struct State {
        var entries: [ClientNeeds: Entry] = [:]
        var uses = 0
        var isShutDown = false
    }

    /// The connections of all clients.
    let open = OpenConnections()
    private let limits: TransportLimits
    private let state = Mutex(State())

    init(limits: TransportLimits) { self.limits = limits }

    /// Runs `body` with clients that are not evicted before it returns.
    func withPair<Value>(
        for needs: ClientNeeds, _ body: (ClientPair) async throws(IssuerError) -> Value
    ) async throws(IssuerError) -> Value {
        let (pair, unused) = try state.withLock { state throws(IssuerError) in try lend(needs, &state) }
        defer { state.withLock { $0.entries[needs]?.users -= 1 } }
        await unused?.shutdown()
        return try await body(pair)
    }

    /// Shuts all clients down, also if called again.
    func shutdown() async {
        let pairs = state.withLock { state in
            state.isShutDown = true
            defer { state.entries = [:] }
            return state.entries.values.map(\.pair)
        }
        for pair in pairs { await pair.shutdown() }
    }

    /// Returns the pair, and the pair that was evicted for it.
    private func lend(_ needs: ClientNeeds, _ state: inout State) throws(IssuerError) -> (ClientPair, ClientPair?) {
        guard !state.isShutDown else { throw .transient(reason: "the agent is stopping", retryAfter: nil) }
        state.uses += 1
        if let known = state.entries[needs] {
            state.entries[needs] = Entry(pair: known.pair, users: known.users + 1, lastUse: state.uses)
            return (known.pair, nil)
        }
        // The step that can fail comes first: a pair, once made, must be shut down.
        let tls = try tlsConfiguration(needs)
        let unused = try makeRoom(&state)
        let pair = ClientPair(tls: tls, proxy: needs.proxy, limits: limits, open: open)
        state.entries[needs] = Entry(pair: pair, users: 1, lastUse: state.uses)
        return (pair, unused)
    }

    private func tlsConfiguration(_ needs: ClientNeeds) throws(IssuerError) -> TLSConfiguration {
        do {
            var configuration = try TrustedRoots.configuration(pem: needs.roots)
            needs.identity?.show(in: &configuration)
            return configuration
        } catch {
            throw .transient(reason: "\(error)", retryAfter: nil)
        }
    }

    private func makeRoom(_ state: inout State) throws(IssuerError) -> ClientPair? {
        guard state.entries.count >= limits.sets else { return nil }
        let idle = state.entries.filter { $0.value.users == 0 }
        guard let oldest = idle.min(by: { $0.value.lastUse < $1.value.lastUse }) else {
            throw .transient(
                reason: "more than \(limits.sets) different sets of root certificates are in use", retryAfter: nil)
        }
        return state.entries.removeValue(forKey: oldest.key)?.pair
    }
}
