import Foundation
import NIOSSL
import SpawnedProcesses

@testable import IssuerLink

/// A certificate authority of one test, made by the machine's own `openssl`, and what it issues.
final class TestAuthority: Sendable {
    /// What an authority issues: PEM.
    struct Issued: Sendable {
        let certificate: String
        let key: String
    }

    private let directory: URL
    /// Its own certificate, PEM.
    let pem: String

    init() async throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "authority-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        let files = [directory.appending(path: "ca.key").path(), directory.appending(path: "ca.pem").path()]
        try await OpenSSL.run(
            [
                "req", "-x509", "-nodes", "-subj", "/CN=Test authority", "-days", "2", "-keyout", files[0], "-out",
                files[1],
            ]
                + Self.ecKey)
        pem = try String(contentsOfFile: files[1], encoding: .utf8)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    private static let ecKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]

    /// A certificate for a server's host name, or for a client of that name.
    func issue(_ name: String, isPast: Bool = false) async throws -> Issued {
        let place = directory.appending(path: UUID().uuidString).path()
        let (key, request, extensions) = (place + ".key", place + ".csr", place + ".ext")
        try "subjectAltName=DNS:\(name)\n".write(toFile: extensions, atomically: false, encoding: .utf8)
        try await OpenSSL.run(
            ["req", "-new", "-nodes", "-subj", "/CN=\(name)", "-keyout", key, "-out", request] + Self.ecKey)
        try await OpenSSL.run([
            "x509", "-req", "-in", request, "-CA", directory.appending(path: "ca.pem").path(), "-CAkey",
            directory.appending(path: "ca.key").path(), "-CAcreateserial", "-days", isPast ? "-1" : "2", "-extfile",
            extensions, "-out", place,
        ])
        return Issued(
            certificate: try String(contentsOfFile: place, encoding: .utf8),
            key: try String(contentsOfFile: key, encoding: .utf8))
    }
}

extension TestAuthority.Issued {
    var identity: ClientIdentity {
        get throws { try ClientIdentity(certificate: Array(certificate.utf8), key: Array(key.utf8)) }
    }

    /// What a server with this certificate needs; with `clients`, one that takes only clients of that authority.
    func server(_ version: TLSVersion? = nil, clients: TestAuthority? = nil) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
        configuration.minimumTLSVersion = .tlsv12
        configuration.maximumTLSVersion = version
        if let clients {
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(clients.pem.utf8)))
        }
        return try NIOSSLContext(configuration: configuration)
    }
}

/// The machine's own `openssl`, run without holding a thread that other tests need.
enum OpenSSL {
    struct Failure: Error {
        let arguments: [String]
        let status: Int32
    }

    static func run(_ arguments: [String]) async throws {
        let status = try await SpawnedProcess(["openssl"] + arguments).exitStatus()
        guard status == 0 else { throw Failure(arguments: arguments, status: status) }
    }
}
