#if PostgreSQL
import Dispatch

/// A connection and its thread: libpq waits, and must not do so where the tasks of Swift run.
final class PostgresWorker: @unchecked Sendable {
    // Unchecked: the connection is touched on the queue alone.
    private let queue: DispatchQueue
    private let open: @Sendable () throws -> PostgresConnection
    private var connection: PostgresConnection?

    /// - Parameter open: makes a connection.
    init(label: String, open: @escaping @Sendable () throws -> PostgresConnection) {
        queue = DispatchQueue(label: label)
        self.open = open
    }

    /// Runs a piece of work with the connection, which is made anew if it was lost, after all that came before it.
    ///
    /// Not cut off with its caller's task.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try body(self.answering()) }) }
        }
    }

    /// The same, for a caller that may wait.
    func runWaiting<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        try queue.sync { try body(answering()) }
    }

    /// Ends the connection after all that came before.
    func close() { queue.sync { connection = nil } }

    /// A connection to a server that is there.
    ///
    /// One that was restarted, or has failed over, has closed those that nobody used meanwhile: that is seen without
    /// asking it.
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
