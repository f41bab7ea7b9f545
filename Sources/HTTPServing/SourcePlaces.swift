import NIOCore
import Synchronization

/// The open connections of a port, each in its place, and what became of those that were cut.
package final class SourcePlaces: Sendable {
    /// How many there are, and how many were closed from this side since the start.
    package struct Figures: Sendable, Equatable {
        package var open = 0
        /// Newcomers for whom nobody could go.
        package var refused = 0
        /// Those that went for another.
        package var crowded = 0
        /// Those whose client took too long.
        package var slow = 0
    }

    /// Connections that are accepted before others are closed for them; more wait in the backlog.
    static let spare = 16

    private struct State {
        var table: SourceTable
        var channels: [SourceTable.ID: any Channel] = [:]
        var figures = Figures()
    }

    /// The most connections at a time.
    let limit: Int
    private let isBehindProxy: Bool
    private let state: Mutex<State>

    /// - Parameter isBehindProxy: whether whoever connects is a proxy; then no address has a bound of its own.
    package init(limit: Int, isBehindProxy: Bool = false) {
        self.limit = limit
        self.isBehindProxy = isBehindProxy
        state = Mutex(State(table: SourceTable(limit: limit, maxOfSource: max(limit / 4, 1))))
    }

    package var figures: Figures {
        state.withLock { state in
            var figures = state.figures
            figures.open = state.table.count
            return figures
        }
    }

    /// Gives a connection a place, and closes another one if there is none left.
    func take(_ channel: any Channel) -> SourceTable.ID {
        let source = Source(channel.remoteAddress?.ipAddress, isBehindProxy: isBehindProxy)
        let (id, leaving): (SourceTable.ID, (any Channel)?) = state.withLock { state in
            let (id, leaving) = state.table.enter(source)
            state.channels[id] = channel
            guard let leaving else { return (id, nil) }
            if leaving == id { state.figures.refused += 1 } else { state.figures.crowded += 1 }
            return (id, state.channels.removeValue(forKey: leaving))
        }
        leaving?.cut()
        return id
    }

    func leave(_ id: SourceTable.ID) {
        state.withLock { state in
            state.table.leave(id)
            state.channels[id] = nil
        }
    }

    func hasWhole(_ id: SourceTable.ID) { state.withLock { $0.table.hasWhole(id) } }

    func owes(_ id: SourceTable.ID, anew: Bool) { state.withLock { $0.table.owes(id, anew: anew) } }

    func noteSlow() { state.withLock { $0.figures.slow += 1 } }
}
