import Synchronization

/// The newest entry of each other host that was published here.
package final class ToldNeighbours: Sendable {
    private struct State {
        var own = ""
        var heads: [String: Int64] = [:]
        /// The same as a position, limited to the hosts whose events readers receive.
        var cursor = EventCursor.beginning
    }

    private let state = Mutex(State())

    package init() {}

    /// The numbers of the newest entries, by host.
    package var heads: [String: Int64] { state.withLock(\.heads) }

    /// - Parameter own: this host's name.
    package func set(_ heads: [String: Int64], besides own: String?) {
        state.withLock { state in
            state.heads.merge(heads) { $1 }
            state.own = state.heads.isEmpty ? "" : own ?? ""
            state.cursor = .beginning
            for host in EventCursor.hosts(Array(state.heads.keys), besides: state.own) {
                state.cursor[host] = state.heads[host] ?? 0
            }
        }
    }

    /// Returns the position for readers, with the newest entry of this host.
    func cursor(own sequence: Int64) -> EventCursor {
        state.withLock { state in
            var cursor = state.cursor
            cursor[state.own] = sequence
            return cursor
        }
    }
}
