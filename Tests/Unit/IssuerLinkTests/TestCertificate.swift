import Foundation
import NIOSSL

/// A self-signed certificate of one test, made by the machine's own `openssl`.
struct TestCertificate {
    let pem: String
    let key: String

    /// - Parameter isInCommonName: whether the host's name is in CN alone, and there is no subjectAltName.
    init(host: String, isPast: Bool = false, isInCommonName: Bool = false) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "link-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = { (name: String) in directory.appending(path: name).path }
        let name =
            isInCommonName
            ? ["-subj", "/CN=\(host)"] : ["-subj", "/CN=test", "-addext", "subjectAltName=DNS:\(host)"]
        try await OpenSSL.run(
            [
                "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-addext",
                "basicConstraints=critical,CA:TRUE", "-keyout", path("key"), "-out", path("request"),
            ] + name)
        try await OpenSSL.run([
            "x509", "-req", "-in", path("request"), "-signkey", path("key"), "-copy_extensions", "copy", "-days",
            isPast ? "-1" : "2", "-out", path("certificate"),
        ])
        pem = try String(contentsOfFile: path("certificate"), encoding: .utf8)
        key = try String(contentsOfFile: path("key"), encoding: .utf8)
    }

    /// What a server with this certificate needs, which speaks no version of TLS above `version`.
    func server(_ version: TLSVersion? = nil) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
        configuration.minimumTLSVersion = .tlsv1
        configuration.maximumTLSVersion = version
        return try NIOSSLContext(configuration: configuration)
    }
}
