#if PostgreSQL
import Dispatch

/// A connection and its queue.
///
/// libpq blocks, which it must not do on Swift's cooperative threads.
final class PostgresWorker: @unchecked Sendable {
    // Unchecked, because only the queue uses the connection.
    private let queue: DispatchQueue
    private let open: @Sendable () throws -> PostgresConnection
    private var connection: PostgresConnection?

    /// - Parameter open: opens a connection.
    init(label: String, open: @escaping @Sendable () throws -> PostgresConnection) {
        queue = DispatchQueue(label: label)
        self.open = open
    }

    /// Runs a piece of work with the connection, after all earlier work.
    ///
    /// Opens a lost connection again first. Cancelling the caller's task does not interrupt it.
    func withConnection<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try body(self.answering()) }) }
        }
    }

    /// Runs a piece of work like ``withConnection(_:)``, and blocks the caller.
    func runWaiting<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        try queue.sync { try body(answering()) }
    }

    /// Closes the connection after all earlier work.
    func close() { queue.sync { connection = nil } }

    /// A connection that the server has not closed.
    ///
    /// A server that was restarted or has failed over has closed its idle connections. The check reads the socket,
    /// without a round trip.
    private func answering() throws -> PostgresConnection {
        let connection = try usable()
        return connection.isClosedByServer ? try usable() : connection
    }

    private func usable() throws -> PostgresConnection {
        if let connection, !connection.isBroken { return connection }
        connection = nil
        let opened = try open()
        connection = opened
        return opened
    }
}
#endif
