import ServiceLifecycle

/// Something that works until it is told to stop.
struct Loop: Service {
    private let body: @Sendable () async throws -> Void
    private let stopsItself: Bool

    /// - Parameter stopsItself: whether the body heeds a graceful shutdown; else it is cancelled for one.
    init(_ body: @escaping @Sendable () async throws -> Void, stopsItself: Bool = false) {
        self.body = body
        self.stopsItself = stopsItself
    }

    func run() async throws {
        guard !stopsItself else { return try await body() }
        do {
            try await cancelWhenGracefulShutdown(body)
        } catch is CancellationError {
            // That is how it stops.
        }
    }
}
