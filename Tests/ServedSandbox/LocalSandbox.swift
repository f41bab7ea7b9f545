import Hummingbird
import HummingbirdCore
package import IssuerProtocol
import Keys
import Logging
import NIOCore
@testable package import Sandbox

/// A sandbox that serves HTTP on a port of the loopback, in this process.
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
        let application = Application(
            responder: CallbackResponder<ConnectionContext> { request, context in
                await responder.answer(to: request, on: context.channel)
            },
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in running.yield(channel.localAddress?.port ?? 0) }, logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
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

/// The connection that a call came on.
private struct ConnectionContext: InitializableFromSource {
    let channel: any Channel

    init(source: ApplicationRequestContextSource) { channel = source.channel }
}
