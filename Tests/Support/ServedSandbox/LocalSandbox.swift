import HTTPServing
import HummingbirdCore
package import IssuerProtocol
import Keys
import Logging

@testable package import Sandbox

/// A sandbox that serves HTTP on a port of the loopback as the program does, in this process.
package struct LocalSandbox: Sendable {
    package let backend: IssuerBackend
    package let issuer: IssuerURL
    package let port: Int
    package let router: SandboxRouter

    /// Serves while `body` runs.
    ///
    /// - Parameter isPushing: whether it sends pushes.
    package static func run(
        isPushing: Bool = false, isolation: isolated (any Actor)? = #isolation,
        _ body: (LocalSandbox) async throws -> Void
    ) async throws {
        let holder = SiteHolder()
        let logger = Logger(label: "sandbox") { _ in SwiftLogNoOpLogHandler() }
        let backend = IssuerBackend(
            store: try SandboxStore(path: nil, dependencies: .system),
            signer: try IssuerSigner(key: SigningKey.generate(.es256), pushKey: SigningKey.generate(.es256)),
            site: holder, logger: logger)
        let router = SandboxRouter(backend: backend)
        let (ports, running) = AsyncStream<Int>.makeStream()
        let responder = IssuerResponder(router: router, page: try SandboxPage(backend: backend, router: router))
        let places = SourcePlaces(limit: 4_096, isBehindProxy: true)
        let listener = HTTPListener(.hostname("127.0.0.1", port: 0), places: places, log: logger)
        let channel = responder.channel(places, patience: 86_400)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listener.serve(channel) { address in
                    running.yield(address.split(separator: ":").last.flatMap { Int($0) } ?? 0)
                }
            }
            if isPushing {
                let sender = PushSender(backend: backend, tls: PushTransport.trusting(nil))
                group.addTask { try await sender.run() }
            }
            defer { group.cancelAll() }
            for await port in ports {
                let issuer = try IssuerURL("http://localhost:\(port)")
                holder.set(IssuerSite(issuer: issuer))
                return try await body(LocalSandbox(backend: backend, issuer: issuer, port: port, router: router))
            }
        }
    }
}
