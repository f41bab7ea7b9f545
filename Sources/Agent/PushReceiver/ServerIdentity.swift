import NIOCore
import NIOSSL
import Synchronization

/// The receiver's certificate and private key.
package struct ServerIdentity: Sendable {
    /// The reason why a certificate and a key cannot be used: a sentence that quotes no part of them.
    package struct Refusal: Error, Sendable, CustomStringConvertible {
        package enum Part: Sendable { case certificate, key }

        /// The file with the fault.
        package let part: Part
        package let description: String
    }

    let configuration: TLSConfiguration

    /// - Parameters:
    ///   - certificate: PEM: the receiver's own certificate first, then the intermediates up to a root that the issuers
    ///     trust.
    ///   - key: PEM, not encrypted.
    package init(certificate: [UInt8], key: [UInt8]) throws(Refusal) {
        let chain: [NIOSSLCertificate]
        let privateKey: NIOSSLPrivateKey
        do {
            chain = try NIOSSLCertificate.fromPEMBytes(certificate)
        } catch {
            throw Refusal(part: .certificate, description: "it holds no certificate in PEM, or one that cannot be read")
        }
        do {
            privateKey = try NIOSSLPrivateKey(bytes: key, format: .pem)
        } catch {
            throw Refusal(part: .key, description: "it holds no private key in PEM that is not encrypted")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(privateKey))
        configuration.minimumTLSVersion = .tlsv12
        configuration.shutdownTimeout = .seconds(1)
        do {
            // Making a context verifies that the key belongs to the certificate.
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw Refusal(part: .key, description: "it is not the private key of the certificate")
        }
        self.configuration = configuration
    }
}

/// The receiver's current certificate and key, which may be replaced while it listens.
final class LiveIdentity: Sendable {
    private let present: Mutex<ServerIdentity>

    init(_ identity: ServerIdentity) { present = Mutex(identity) }

    func replace(by identity: ServerIdentity) { present.withLock { $0 = identity } }

    /// A configuration that loads the current certificate at each handshake.
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
