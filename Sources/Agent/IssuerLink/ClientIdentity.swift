internal import NIOSSL

/// The certificate by which the agent is known to issuers that ask for one (mutual TLS), and its private key.
package struct ClientIdentity: Hashable, Sendable {
    /// Why a certificate and a key cannot be used: a sentence that quotes nothing of them.
    package struct Refusal: Error, Equatable, Sendable, CustomStringConvertible {
        package enum Part: Sendable { case certificate, key }

        /// Where the fault is.
        package let part: Part
        package let description: String
    }

    private let chain: [NIOSSLCertificate]
    private let key: NIOSSLPrivateKey

    /// - Parameters:
    ///   - certificate: PEM, the agent's own first, then those between it and a root that the issuer knows.
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
            // Making a context holds the key against the certificate.
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw Refusal(part: .key, description: "it is not the private key of the client certificate")
        }
    }

    /// By the certificates: the key is the one of the first, and need not be written out to be compared.
    package static func == (one: ClientIdentity, other: ClientIdentity) -> Bool { one.chain == other.chain }

    package func hash(into hasher: inout Hasher) { hasher.combine(chain) }

    func show(in configuration: inout TLSConfiguration) {
        configuration.certificateChain = chain.map { .certificate($0) }
        configuration.privateKey = .privateKey(key)
    }
}
