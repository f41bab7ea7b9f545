package import Authenticator
import Glibc
package import HTTPServing
import HummingbirdCore
import HummingbirdTLS
import LinuxProcess
package import Logging
import NIOCore
import NIOSSL

/// Receives Web Push (RFC 8030) over HTTP or HTTPS.
package struct PushServer: Sendable {
    private let channel: PatientChannel
    private let address: ListenAddress
    /// The certificate, or `nil` for plain HTTP.
    private let identity: LiveIdentity?
    private let places: SourcePlaces
    private let log: Logger

    /// - Parameters:
    ///   - identity: `nil` for plain HTTP, on loopback or behind a proxy.
    ///   - isBehindProxy: whether all senders have the address of a proxy.
    package init(
        reception: PushReception, address: ListenAddress, identity: ServerIdentity?, isBehindProxy: Bool = false,
        bounds: PushBounds = .standard, log: Logger
    ) {
        let places = SourcePlaces(
            limit: FileLimit.connections(bounds.connections), isBehindProxy: isBehindProxy)
        self.places = places
        reception.connections.follow {
            let figures = places.figures
            return PortFigures(
                open: figures.open, refused: figures.refused, crowded: figures.crowded, slow: figures.slow)
        }
        let responder = PushResponder(reception: reception)
        channel = PatientChannel(PushBounds.header, seconds: bounds.patience, places: places) { request, peer in
            await responder.answer(to: request, from: peer)
        }
        self.address = address
        self.identity = identity.map(LiveIdentity.init)
        self.log = log
    }

    /// Uses another certificate from the next connection on, without effect on plain HTTP.
    package func use(_ identity: ServerIdentity) { self.identity?.replace(by: identity) }

    /// Serves until a graceful shutdown.
    ///
    /// - Parameter onListening: called with the address once the server accepts pushes.
    /// - Throws: ``PushServerError`` if the server cannot listen on the address.
    package func serve(onListening: @escaping @Sendable (String) -> Void = { _ in }) async throws {
        guard let identity else { return try await serve(channel, onListening) }
        try await serve(try TLSChannel(channel, tlsConfiguration: identity.configuration), onListening)
    }

    private func serve(_ channel: some ServerChildChannel, _ onListening: @escaping @Sendable (String) -> Void)
        async throws
    {
        let listener = HTTPListener(
            .hostname(address.host, port: address.port), places: places, log: log)
        do {
            try await listener.serve(channel) { [log] address in
                log.notice("push receiver listening", metadata: ["address": "\(address)"])
                onListening(address)
            }
        } catch let error as IOError {
            throw PushServerError(address: address, reason: error.text, isForbidden: error.errnoCode == EACCES)
        }
    }
}

/// The reason why the server cannot listen for pushes.
package struct PushServerError: Error, CustomStringConvertible {
    let address: ListenAddress
    let reason: String
    /// Ports below 1024 require a privilege.
    package let isForbidden: Bool

    package var description: String {
        "cannot listen for pushes on \(address.host) port \(address.port): \(reason); choose another with push-listen"
            + (isForbidden ? ", or add the drop-in low-port.conf to the unit" : "")
    }
}

/// Limits for a sender of pushes.
///
/// The limit for the body is that of the standard.
///
/// The variables are constants, except in tests.
package struct PushBounds: Sendable {
    /// Connections at a time, within `FileLimit`; for each one more, another is closed.
    package var connections = 256
    /// The seconds for a TLS handshake and a whole request, and for the next one after it.
    package var patience = 10

    /// Limits for the header fields of a request: a VAPID token is the longest.
    static let header = PatientChannel.HeaderBounds(fieldBytes: 6_144, bytes: 16_384, fields: 64)

    package static let standard = PushBounds()

    package init() {}
}
