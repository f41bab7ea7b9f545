package import Authenticator
import Glibc
package import HTTPServing
import HummingbirdCore
package import Logging
import NIOCore

/// Serves the metrics, and no other page, to all users of this machine.
package struct MetricsServer: Sendable {
    /// The most connections at a time; for one more, one of them is closed.
    private static let connections = 16
    private static let header = PatientChannel.HeaderBounds(fieldBytes: 8_192, bytes: 8_192, fields: 32)
    /// The limit in seconds for a request and its answer, and for the next request after it.
    private static let patience = 10

    private let channel: PatientChannel
    private let places = SourcePlaces(limit: Self.connections)
    private let address: ListenAddress
    private let log: Logger

    /// - Parameter address: one on loopback.
    package init(_ agent: Agent, _ address: ListenAddress, log: Logger) {
        let responder = MetricsResponder(agent: agent)
        channel = PatientChannel(Self.header, seconds: Self.patience, places: places) { request, _ in
            await responder.answer(to: request)
        }
        self.address = address
        self.log = log
    }

    /// Serves until a graceful shutdown.
    ///
    /// - Parameter onListening: called once the server listens.
    /// - Throws: ``MetricsServerError`` for an `IOError`, such as an address in use. Other errors are thrown unchanged.
    package func serve(onListening: @escaping @Sendable () -> Void = {}) async throws {
        let listener = HTTPListener(
            .hostname(address.host, port: address.port), places: places, log: log)
        do {
            try await listener.serve(channel) { [log] address in
                log.notice("metrics server listening", metadata: ["address": "\(address)"])
                onListening()
            }
        } catch let error as IOError {
            throw MetricsServerError(address: address, reason: error.text, isForbidden: error.errnoCode == EACCES)
        }
    }
}

/// The reason why metrics cannot be served.
package struct MetricsServerError: Error, CustomStringConvertible {
    let address: ListenAddress
    let reason: String
    /// Whether EACCES is the reason, as for a port below 1024 without the privilege.
    package let isForbidden: Bool

    package var description: String {
        "metrics cannot be given on \(address.host) port \(address.port): \(reason); choose another with metrics-listen"
    }
}
