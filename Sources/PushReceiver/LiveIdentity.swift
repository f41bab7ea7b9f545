import NIOCore
import NIOSSL
import Synchronization

/// The certificate and key that the receiver shows at the moment; it may get others while it listens.
final class LiveIdentity: Sendable {
    private let present: Mutex<ServerIdentity>

    init(_ identity: ServerIdentity) { present = Mutex(identity) }

    func replace(by identity: ServerIdentity) { present.withLock { $0 = identity } }

    /// That of a server which asks for the present ones at each handshake.
    var configuration: TLSConfiguration {
        var configuration = present.withLock(\.configuration)
        configuration.sslContextCallback = { [self] _, promise in
            let shown = present.withLock(\.configuration)
            var override = NIOSSLContextConfigurationOverride()
            override.certificateChain = shown.certificateChain
            override.privateKey = shown.privateKey
            promise.succeed(override)
        }
        return configuration
    }
}
