internal import NIOCore
internal import NIOSSL

/// Why root certificates cannot be used: one sentence that quotes nothing of them.
package struct RootsError: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String
}

/// How an issuer's certificate is judged: fully, always, with the system's roots or with given ones instead.
enum TrustedRoots {
    /// The most that is taken as PEM: 1 MiB.
    private static let maxBytes = 1_048_576

    static func configuration(pem: String?) throws(RootsError) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.certificateVerification = .fullVerification
        configuration.trustRoots = .default
        // A connection that is closed keeps its descriptor no longer than this for a peer that does not answer the close.
        configuration.shutdownTimeout = .milliseconds(200)
        if let pem { configuration.trustRoots = .certificates(try certificates(pem)) }
        return configuration
    }

    private static func certificates(_ pem: String) throws(RootsError) -> [NIOSSLCertificate] {
        guard pem.utf8.count <= maxBytes else {
            throw RootsError(description: "the root certificates have more than 1 MiB")
        }
        guard !pem.contains("PRIVATE KEY-----") else {
            throw RootsError(description: "the root certificates come with a private key: give certificates only")
        }
        guard pem.contains("-----BEGIN ") else {
            throw RootsError(
                description: "there is no root certificate: it must be PEM, from -----BEGIN CERTIFICATE-----")
        }
        do {
            // PEM is ASCII: an editor puts a byte order mark before it, `cat` then one between two certificates.
            let plain = pem.utf8.filter { $0 < 0x80 }
            return try NIOSSLCertificate.fromPEMBytes(plain)
        } catch {
            throw RootsError(description: "the root certificates hold no certificate, or one that cannot be read")
        }
    }
}
