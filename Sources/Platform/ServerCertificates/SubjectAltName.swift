package import NIOCore
import NIOSSL

/// The error for a server's certificate without a subjectAltName.
///
/// Its name can only be in CN, which does not count (RFC 9525 section 2).
package struct NoSubjectAltNameError: Error, Sendable {
    package init() {}
}

/// The rule of RFC 9525 that the TLS library lacks.
///
/// Without a subjectAltName, the library compares the host's name with CN.
package enum SubjectAltName {
    /// Closes a new connection if the server's certificate has no subjectAltName.
    ///
    /// The handshake has checked that one of its names is the host's. A connection without TLS passes.
    ///
    /// - Parameter channel: a connection after its handshake, before any data was sent. The caller is on its event
    ///   loop.
    /// - Returns: a future, which fails with ``NoSubjectAltNameError``.
    package static func require(on channel: any Channel) -> EventLoopFuture<Void> {
        guard let handler = try? channel.pipeline.syncOperations.handler(type: NIOSSLHandler.self) else {
            return channel.eventLoop.makeSucceededVoidFuture()
        }
        if let certificate = handler.peerCertificate, !certificate._subjectAlternativeNames().isEmpty {
            return channel.eventLoop.makeSucceededVoidFuture()
        }
        // Not before the client gets the failure: it would take an earlier close for the end of an established
        // connection.
        channel.eventLoop.execute { channel.close(promise: nil) }
        return channel.eventLoop.makeFailedFuture(NoSubjectAltNameError())
    }
}
