import Synchronization

/// The state that a `D1Task` and its `D1Authn`s share.
final class Core: Sendable {
    private enum State {
        case idle
        case open(Host)
        case closed
    }

    let tasks = Tasks()
    let asked = AskedRequests()
    private let components: D1Task.Components
    private let state = Mutex(State.idle)

    init(_ components: D1Task.Components) { self.components = components }

    var isClosed: Bool {
        if case .closed = state.withLock(\.self) { true } else { false }
    }

    var enrolledAuthnType: AuthnType? {
        if case .open(let host) = state.withLock(\.self) { host.enrolledType.value } else { nil }
    }

    /// Opens the state if it is not open yet, and waits until the core is ready.
    func configure(_ params: Set<ConfigParams>) async throws(D1Error) {
        let host = try state.withLock { state throws(D1Error) in
            if case .open(let host) = state { return host }
            guard case .idle = state else { throw Self.closed }
            let host = try Host(try Setup(components, params))
            state = .open(host)
            return host
        }
        do throws(D1Error) {
            try await host.ready()
        } catch {
            state.withLock { state in
                if case .open(let current) = state, current === host { state = .idle }
            }
            await host.close()
            throw error
        }
    }

    func close() async {
        let before = state.withLock { state in
            defer { state = .closed }
            return state
        }
        await tasks.cancelAll()
        if case .open(let host) = before { await host.close() }
    }

    /// Runs a call of the app.
    func call<Success: Sendable>(
        _ work: @escaping @Sendable (Host) async throws -> Success
    ) async throws(D1Error) -> Success {
        try await tasks.perform { [self] in await result(of: work) }.get()
    }

    /// Runs a call of the app, and calls its completion handler once, on the main actor.
    func call<Success: Sendable>(
        _ work: @escaping @Sendable (Host) async throws -> Success,
        then completion: @escaping @MainActor (Result<Success, D1Error>) -> Void
    ) {
        tasks.start { [self] in await completion(result(of: work)) }
    }

    private func result<Success: Sendable>(
        of work: @Sendable (Host) async throws -> Success
    ) async -> Result<Success, D1Error> {
        do {
            let host = try host
            try await host.ready()
            return .success(try await work(host))
        } catch {
            return .failure(D1Error(error))
        }
    }

    private var host: Host {
        get throws(D1Error) {
            switch state.withLock(\.self) {
            case .open(let host): return host
            case .closed: throw Self.closed
            case .idle: throw D1Error(.notInitialized, "notConfigured", "configure has not been called, or it failed")
            }
        }
    }

    private static let closed = D1Error(.notInitialized, "closed", "the D1Task was closed")
}
