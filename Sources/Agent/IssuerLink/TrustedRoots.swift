internal import NIOCore
internal import NIOSSL

/// The reason why root certificates cannot be used: one sentence that quotes no part of them.
package struct RootsError: Error, Equatable, Sendable, CustomStringConvertible {
    package let description: String
}

/// Verification of an issuer's chain: always full, with the system's roots or with given roots instead.
enum TrustedRoots {
    /// The limit for PEM: 1 MiB.
    private static let maxBytes = 1_048_576

    static func configuration(pem: String?) throws(RootsError) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.certificateVerification = .fullVerification
        configuration.trustRoots = .default
        // The limit for closing a connection: a peer that does not answer the close would keep the descriptor longer.
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
            // PEM is ASCII. An editor may put a byte order mark in front of it, and `cat` then puts one between two
            // certificates.
            let plain = pem.utf8.filter { $0 < 0x80 }
            return try NIOSSLCertificate.fromPEMBytes(plain)
        } catch {
            throw RootsError(description: "the root certificates hold no certificate, or one that cannot be read")
        }
    }
}
