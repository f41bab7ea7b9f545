internal import NIOSSL

/// The agent's client certificate and private key, for issuers that require mutual TLS.
package struct ClientIdentity: Hashable, Sendable {
    /// The reason why a certificate and a key cannot be used: a sentence that quotes no part of them.
    package struct Refusal: Error, Equatable, Sendable, CustomStringConvertible {
        package enum Part: Sendable { case certificate, key }

        /// The file with the fault.
        package let part: Part
        package let description: String
    }

    private let chain: [NIOSSLCertificate]
    private let key: NIOSSLPrivateKey

    /// - Parameters:
    ///   - certificate: PEM: the agent's own certificate first, then the intermediates up to a root that the issuer
    ///     trusts.
    ///   - key: PEM, not encrypted.
    package init(certificate: [UInt8], key: [UInt8]) throws(Refusal) {
        do {
            chain = try NIOSSLCertificate.fromPEMBytes(certificate)
        } catch {
            throw Refusal(part: .certificate, description: "it holds no certificate in PEM, or one that cannot be read")
        }
        do {
            self.key = try NIOSSLPrivateKey(bytes: key, format: .pem)
        } catch {
            throw Refusal(part: .key, description: "it holds no private key in PEM that is not encrypted")
        }
        do {
            var configuration = TLSConfiguration.makeClientConfiguration()
            show(in: &configuration)
            // Making a context verifies that the key belongs to the certificate.
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw Refusal(part: .key, description: "it is not the private key of the client certificate")
        }
    }

    /// Compares the certificates only.
    ///
    /// The key belongs to the first certificate, so it need not be compared.
    package static func == (one: ClientIdentity, other: ClientIdentity) -> Bool { one.chain == other.chain }

    package func hash(into hasher: inout Hasher) { hasher.combine(chain) }

    func show(in configuration: inout TLSConfiguration) {
        configuration.certificateChain = chain.map { .certificate($0) }
        configuration.privateKey = .privateKey(key)
    }
}
