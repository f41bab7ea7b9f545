import NIOCore

extension Channel {
    /// Closes the connection at once.
    ///
    /// A close that goes through TLS waits for the peer's own, which one that only holds places never sends.
    func cut() {
        eventLoop.execute {
            let pipeline = self.pipeline.syncOperations
            let beforeTLS = FirstHandler()
            do {
                try pipeline.addHandler(beforeTLS, position: .first)
                try pipeline.context(handler: beforeTLS).close(promise: nil)
            } catch {
                // It is closed already.
                self.close(promise: nil)
            }
        }
    }
}

/// Stands next to the socket, and does nothing.
private final class FirstHandler: ChannelOutboundHandler {
    typealias OutboundIn = Never
}
