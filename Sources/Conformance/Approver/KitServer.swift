import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import StrictJSON

/// Serves an issuer of the kit's on a port of the loopback.
enum KitServer {
    /// Serves while `body` runs.
    static func with<Value: Sendable>(
        _ body: @escaping @Sendable (KitIssuer) async throws -> Value
    ) async throws -> Value {
        let (ports, running) = AsyncStream<Int>.makeStream()
        let holder = KitHolder()
        let application = Application(
            responder: KitResponder(holder: holder), configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in running.yield(channel.localAddress?.port ?? 0) },
            logger: Logger(label: "conformance") { _ in SwiftLogNoOpLogHandler() })
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            defer { group.cancelAll() }
            for await port in ports {
                let issuer = try KitIssuer(port: port)
                holder.set(issuer)
                return try await body(issuer)
            }
            throw CaseEnd.broken("the kit's issuer takes no port")
        }
    }
}
