import HummingbirdCore
import Logging
import RawHTTP
import Testing

@testable import HTTPServing

/// A server on a port of the loopback.
enum LocalServer {
    /// Serves while `body` runs.
    static func run(
        seconds: Int = 86_400, places: SourcePlaces = SourcePlaces(limit: 8),
        _ responder: @escaping PatientChannel.Responder, _ body: (RawHTTP) async throws -> Void
    ) async throws {
        let channel = PatientChannel(
            .init(fieldBytes: 1_024, bytes: 4_096, fields: 32), seconds: seconds, places: places, responder)
        let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let listener = HTTPListener(.hostname("127.0.0.1", port: 0), places: places, log: log)
        let (addresses, listening) = AsyncStream.makeStream(of: String.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await listener.serve(channel) { listening.yield($0) } }
            defer { group.cancelAll() }
            for await address in addresses {
                let port = try #require(address.split(separator: ":").last.flatMap { Int($0) })
                return try await body(RawHTTP(port: port))
            }
        }
    }
}
