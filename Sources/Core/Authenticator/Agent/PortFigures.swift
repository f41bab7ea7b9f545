import Synchronization

/// The connections of a port: the open ones, and counts of those closed from this side since the start.
package struct PortFigures: Sendable, Equatable {
    package let open: Int
    /// New connections that were closed because no older connection could be closed for them.
    package let refused: Int
    /// Connections that were closed to make room for another.
    package let crowded: Int
    /// Connections whose client took too long.
    package let slow: Int

    package init(open: Int = 0, refused: Int = 0, crowded: Int = 0, slow: Int = 0) {
        self.open = open
        self.refused = refused
        self.crowded = crowded
        self.slow = slow
    }
}

/// The source of the figures about a port's connections.
package final class PortTally: Sendable {
    private let source = Mutex<(@Sendable () -> PortFigures)?>(nil)

    /// Sets the source of the figures, which the server of the port provides.
    package func follow(_ source: @escaping @Sendable () -> PortFigures) { self.source.withLock { $0 = source } }

    /// The current figures, all 0 before a server provides them.
    var figures: PortFigures { source.withLock { $0 }?() ?? PortFigures() }
}
