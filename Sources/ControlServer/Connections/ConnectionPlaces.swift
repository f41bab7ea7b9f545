import NIOCore
import Synchronization

/// The open connections, each in its place of the table.
final class ConnectionPlaces: Sendable {
    private struct State {
        var table: ConnectionTable
        var connections: [ConnectionTable.ID: ControlConnection] = [:]
    }

    /// How long a client may take to say something, or to read an answer.
    private let patience: TimeAmount
    private let state: Mutex<State>

    init(_ table: ConnectionTable, patience: TimeAmount) {
        self.patience = patience
        state = Mutex(State(table: table))
    }

    /// Gives a connection a place until it is closed.
    ///
    /// - Returns: the connection, and the peer whose connection had to be closed for it, if there was no place left.
    func take(_ channel: any Channel, of caller: Caller) -> (ControlConnection, ConnectionTable.Peer?) {
        let (connection, leaving) = state.withLock { state in
            let (id, leaving) = state.table.enter(caller.peer)
            let connection = ControlConnection(
                id: id, caller: caller, channel: channel, places: self, patience: patience)
            state.connections[id] = connection
            return (connection, leaving.flatMap { state.connections.removeValue(forKey: $0) })
        }
        leaving?.close()
        return (connection, leaving?.peer)
    }

    func work(for connection: ControlConnection) {
        state.withLock { $0.table.work(for: connection.id) }
    }

    /// Notes that a connection waits for its client, which may not have read an answer of so many bytes yet.
    func wait(for connection: ControlConnection, bytes: Int) {
        let leaving = state.withLock { state in
            state.table.wait(for: connection.id, bytes: bytes)
                .compactMap { state.connections.removeValue(forKey: $0) }
        }
        for connection in leaving { connection.close() }
    }

    func leave(_ connection: ControlConnection) {
        state.withLock { state in
            state.table.leave(connection.id)
            state.connections[connection.id] = nil
        }
    }
}
