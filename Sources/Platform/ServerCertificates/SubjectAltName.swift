package import NIOCore
import NIOSSL

/// A server's certificate without a subjectAltName: its name can only be in CN, which does not count (RFC 9525 section 2).
package struct NoSubjectAltNameError: Error, Sendable {
    package init() {}
}

/// The rule of RFC 9525 that the TLS library lacks: without a subjectAltName it compares the host's name with CN.
package enum SubjectAltName {
    /// Refuses the server of a new connection if its certificate has no subjectAltName, and then closes the connection.
    ///
    /// Whether a name of it is the host's was checked in the handshake. A connection without TLS passes.
    ///
    /// - Parameter channel: after its handshake, before anything was sent; the caller is on its event loop.
    /// - Returns: fails with ``NoSubjectAltNameError``.
    package static func require(on channel: any Channel) -> EventLoopFuture<Void> {
        guard let handler = try? channel.pipeline.syncOperations.handler(type: NIOSSLHandler.self) else {
            return channel.eventLoop.makeSucceededVoidFuture()
        }
        if let certificate = handler.peerCertificate, !certificate._subjectAlternativeNames().isEmpty {
            return channel.eventLoop.makeSucceededVoidFuture()
        }
        // Not before the client knows of the failure: it takes a close first for the end of a connection that it has.
        channel.eventLoop.execute { channel.close(promise: nil) }
        return channel.eventLoop.makeFailedFuture(NoSubjectAltNameError())
    }
}
