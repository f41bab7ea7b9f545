import Synchronization

/// The connections of a port: how many there are, and how many were closed from this side since the start.
package struct PortFigures: Sendable, Equatable {
    package let open: Int
    /// Newcomers for whom nobody could go.
    package let refused: Int
    /// Those that went for another.
    package let crowded: Int
    /// Those whose client took too long.
    package let slow: Int

    package init(open: Int = 0, refused: Int = 0, crowded: Int = 0, slow: Int = 0) {
        self.open = open
        self.refused = refused
        self.crowded = crowded
        self.slow = slow
    }
}

/// Knows whom to ask about a port's connections.
package final class PortTally: Sendable {
    private let source = Mutex<(@Sendable () -> PortFigures)?>(nil)

    /// Has whoever serves the port asked from now on.
    package func follow(_ source: @escaping @Sendable () -> PortFigures) { self.source.withLock { $0 = source } }

    /// None before anyone serves the port.
    var figures: PortFigures { source.withLock { $0 }?() ?? PortFigures() }
}
