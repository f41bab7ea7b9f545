import GRDB
import Synchronization

/// The connection for reads of whole tables.
///
/// It is opened for the first such read, so a store without surveys needs no memory for it.
final class SQLiteSurveyor: Sendable {
    private let path: String
    private let configuration: Configuration
    private let state = Mutex(State.unopened)

    private enum State {
        case unopened
        case open(DatabaseQueue)
        case closed
    }

    /// - Parameter configuration: the configuration of the store's other connections.
    init(path: String, _ configuration: Configuration) {
        var configuration = configuration
        configuration.readonly = true
        configuration.label = "store-surveyor"
        (self.path, self.configuration) = (path, configuration)
    }

    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try queue().unsafeRead(body)
    }

    /// Runs `body` while no read uses the connection, if it is open.
    func pausing<Result>(_ body: () throws -> Result) throws -> Result {
        guard case .open(let queue) = state.withLock({ $0 }) else { return try body() }
        return try queue.unsafeRead { _ in try body() }
    }

    private func queue() throws -> DatabaseQueue {
        try state.withLock { state in
            switch state {
            case .open(let queue): return queue
            case .closed: throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "Connection is closed")
            case .unopened:
                let queue = try DatabaseQueue(path: path, configuration: configuration)
                state = .open(queue)
                return queue
            }
        }
    }

    /// Closes the connection once its running read has ended.
    ///
    /// The next read opens another one.
    func releaseMemory() {
        state.withLock { if case .open = $0 { $0 = .unopened } }
    }

    func close() throws {
        let queue: DatabaseQueue? = state.withLock { state in
            defer { state = .closed }
            if case .open(let queue) = state { return queue }
            return nil
        }
        try queue?.close()
    }
}
