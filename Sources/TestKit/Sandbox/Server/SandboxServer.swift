import Glibc
package import HTTPServing
import HummingbirdCore
import HummingbirdTLS
import IssuerProtocol
import Keys
import LinuxProcess
package import Logging
import NIOCore
import NIOSSL
import PageServing
import ServiceLifecycle
import UnixSignals

/// The configuration of a sandbox server.
package struct SandboxConfiguration: Sendable {
    package struct TLSFiles: Sendable {
        /// The path of the certificate chain's PEM file; `key` is the private key's.
        package let certificate: String
        package let key: String

        package init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    package struct PushSettings: Sendable {
        /// The path of a PEM file with the roots to trust instead of the system's.
        let caFile: String?
        let policy: PushPolicy

        package init(caFile: String? = nil, policy: PushPolicy = .loopbackOnly) {
            self.caFile = caFile
            self.policy = policy
        }
    }

    package let listen: ListenAddress
    /// The path of the SQLite file, or `nil` for a database in memory.
    package let database: String?
    package let tls: TLSFiles?
    /// The issuer's URL for authenticators, if it differs from the address that the server listens on.
    let publicURL: IssuerURL?
    /// The injected faults.
    let faults: FaultSpec?
    /// Whether a test can move the clock ahead.
    let hasTestClock: Bool
    let push: PushSettings

    /// Throws if the public URL is not a valid issuer URL.
    package init(
        listen: ListenAddress, database: String?, tls: TLSFiles?, publicURL: String?, faults: FaultSpec?,
        hasTestClock: Bool = false, push: PushSettings = PushSettings()
    ) throws(IssuerURLError) {
        self.faults = faults
        self.hasTestClock = hasTestClock
        self.push = push
        self.listen = listen
        self.database = database
        self.tls = tls
        self.publicURL = try publicURL.map { text throws(IssuerURLError) in try IssuerURLError.issuer(text) }
    }
}

/// An error of an issuer URL: what is wrong with it, and what is allowed.
package struct IssuerURLError: Error, Sendable, CustomStringConvertible {
    package let description: String

    static func issuer(_ text: String) throws(IssuerURLError) -> IssuerURL {
        do { return try IssuerURL(written: text) } catch { throw IssuerURLError(description: error.what) }
    }
}

/// The sandbox server: an issuer's backend, a small ACS and a merchant on one port.
package struct SandboxServer: Sendable {
    /// The time limit of a graceful shutdown.
    private static let patience: Duration = .milliseconds(1_500)
    /// The limit of concurrent connections; half of the process's limit of open files applies too.
    private static let maxConnections = 16_384

    private let configuration: SandboxConfiguration
    private let logger: Logger
    private let backend: IssuerBackend
    private let sender: PushSender

    /// Opens the database and the keys, or throws an error that describes the failure.
    package init(_ configuration: SandboxConfiguration, logger: Logger) throws {
        self.configuration = configuration
        self.logger = logger
        backend = IssuerBackend(
            store: try SandboxStore(
                path: configuration.database, dependencies: .system, hasTestClock: configuration.hasTestClock),
            signer: try IssuerSigner(
                key: Self.key(for: .requests, configuration), pushKey: Self.key(for: .vapid, configuration)),
            site: SiteHolder(), faults: configuration.faults, pushPolicy: configuration.push.policy, logger: logger)
        let roots = try configuration.push.caFile.map { path in
            try Self.reading("--push-ca-file", at: path) { try NIOSSLCertificate.fromPEMFile($0) }
        }
        sender = PushSender(backend: backend, tls: PushTransport.trusting(roots))
        if let clock = backend.clock {
            logger.warning("the clock is a test's", metadata: ["offsetSeconds": "\(clock.offset)"])
        }
    }

    private static func key(
        for use: IssuerKeyFile.Use, _ configuration: SandboxConfiguration
    ) throws -> SigningKey {
        guard let database = configuration.database else { return try SigningKey.generate(.es256) }
        return try IssuerKeyFile.key(for: use, besideDatabase: database)
    }

    /// Serves until SIGTERM or SIGINT; calls `onListening` with the issuer's URL once it accepts calls.
    ///
    /// - Throws: ``ListenError`` if the server cannot listen on the address.
    package func serve(onListening: @escaping @Sendable (String) -> Void) async throws {
        let address = configuration.listen
        let service = Service { try await serve(onListening) }
        var services = ServiceGroupConfiguration(
            services: [sender, service], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        services.maximumGracefulShutdownDuration = Self.patience
        do {
            try await ServiceGroup(configuration: services).run()
        } catch let error as IOError {
            throw ListenError(address, error)
        } catch is SocketAddressError.UnknownHost {
            throw ListenError(unknownHostOf: address)
        }
    }

    private struct Service: ServiceLifecycle.Service {
        let serve: @Sendable () async throws -> Void

        func run() async throws { try await serve() }
    }

    private func serve(_ onListening: @escaping @Sendable (String) -> Void) async throws {
        let router = SandboxRouter(backend: backend)
        let responder = IssuerResponder(router: router, page: try SandboxPage(backend: backend, router: router))
        // A single address may use all places: a lab has its agents on one host.
        let places = SourcePlaces(limit: 2 * FileLimit.connections(Self.maxConnections / 2), isBehindProxy: true)
        let channel = responder.channel(places)
        if let tls = try tlsConfiguration() {
            try await serve(try TLSChannel(channel, tlsConfiguration: tls), places, onListening)
        } else {
            try await serve(channel, places, onListening)
        }
    }

    private func serve(
        _ channel: some ServerChildChannel, _ places: SourcePlaces, _ onListening: @escaping @Sendable (String) -> Void
    ) async throws {
        let address = configuration.listen
        let listener = HTTPListener(.hostname(address.host, port: address.port), places: places, log: logger)
        try await listener.serve(channel) { text in
            let port = text.split(separator: ":").last.flatMap { Int($0) } ?? address.port
            guard let issuer = issuerURL(port: port) else { return }
            backend.site.set(IssuerSite(issuer: issuer, origins: origins(port: port)))
            onListening(issuer.text)
        }
    }

    /// Returns the issuer's URL; loopback is always `localhost`, since a WebAuthn RP ID is never an IP address.
    private func issuerURL(port: Int) -> IssuerURL? {
        if let url = configuration.publicURL { return url }
        let scheme = configuration.tls == nil ? "http" : "https"
        let isDefaultPort = port == (configuration.tls == nil ? 80 : 443)
        let host = configuration.listen.isLoopback ? "localhost" : configuration.listen.host
        return try? IssuerURL("\(scheme)://\(host)\(isDefaultPort ? "" : ":\(port)")")
    }

    /// Returns the origins of the listen address and of the loopback addresses.
    private func origins(port: Int) -> Set<PageOrigin> {
        let scheme = configuration.tls == nil ? "http" : "https"
        let host = configuration.listen.host
        let hosts = ["localhost", "127.0.0.1", "[::1]", host.contains(":") ? "[\(host)]" : host]
        let isDefaultPort = port == (configuration.tls == nil ? 80 : 443)
        return Set(hosts.map { PageOrigin(scheme: scheme, host: isDefaultPort ? $0 : "\($0):\(port)") })
    }

    /// Loads the TLS configuration, or returns `nil` without TLS.
    private func tlsConfiguration() throws -> TLSConfiguration? {
        guard let files = configuration.tls else { return nil }
        let chain = try Self.reading("--tls-cert", at: files.certificate) { path in
            try NIOSSLCertificate.fromPEMFile(path).map { NIOSSLCertificateSource.certificate($0) }
        }
        let key = try Self.reading("--tls-key", at: files.key) { path in try NIOSSLPrivateKey(file: path, format: .pem)
        }
        var tls = TLSConfiguration.makeServerConfiguration(certificateChain: chain, privateKey: .privateKey(key))
        tls.minimumTLSVersion = .tlsv12
        // The time that a graceful shutdown waits for a client to close its half.
        tls.shutdownTimeout = .seconds(1)
        return tls
    }

    /// An error of a PEM file that cannot be used.
    private struct PEMError: Error, CustomStringConvertible {
        let description: String

        init(_ flag: String, _ path: String) {
            if unsafe access(path, R_OK) != 0 {
                // glibc keeps the text per thread (strerror(3)), and it is copied at once.
                description = "\(flag) \(path) cannot be read: \(unsafe String(cString: strerror(errno)))"
            } else {
                let what = flag == "--tls-key" ? "a private key without a passphrase" : "certificates"
                description = "\(flag) \(path) must be a PEM file with \(what)"
            }
        }
    }

    private static func reading<Value>(
        _ flag: String, at path: String, _ read: (String) throws -> Value
    ) throws -> Value {
        do { return try read(path) } catch { throw PEMError(flag, path) }
    }
}
