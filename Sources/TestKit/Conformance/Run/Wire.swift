import AsyncHTTPClient
import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import ServerCertificates
import StrictJSON
import TextAndTime

/// The kit's HTTP client: it follows no redirects, and every call has limits.
package struct Wire: Sendable {
    /// The limit of an answer, in bytes: the protocol's limit for a list.
    static let maxBytes = 2_097_152
    /// Seconds for a call, besides the time that the call asks the other side to wait.
    static let seconds: Int64 = 30

    /// The secrets that the run must not report.
    package let secrets = KnownSecrets()
    private let client: HTTPClient

    /// - Parameter roots: PEM certificates to trust instead of the system's.
    private init(roots: [UInt8]?) throws(CaseFileError) {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.connectionPool.retryConnectionEstablishment = false
        // Each case may have long polls, and none waits for another case's.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        // Servers close idle connections, many after 5 s; a call on a connection just closed would look like a failure.
        configuration.connectionPool.idleTimeout = .seconds(2)
        configuration.timeout.connect = .seconds(10)
        configuration.http1_1ConnectionDebugInitializer = { SubjectAltName.require(on: $0) }
        configuration.http2ConnectionDebugInitializer = { SubjectAltName.require(on: $0) }
        if let roots {
            guard let certificates = try? NIOSSLCertificate.fromPEMBytes(roots), !certificates.isEmpty else {
                throw CaseFileError("--ca-file: must be certificates in PEM")
            }
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates(certificates)
            configuration.tlsConfiguration = tls
        }
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Opens a client for as long as `work` runs.
    package static func with<Value>(roots: [UInt8]? = nil, _ work: (Wire) async throws -> Value) async throws -> Value {
        let wire = try Wire(roots: roots)
        let result: Result<Value, any Error>
        do { result = .success(try await work(wire)) } catch { result = .failure(error) }
        try? await wire.client.shutdown()
        return try result.get()
    }

    /// Makes one call, and records it in `trace`.
    ///
    /// - Parameters:
    ///   - token: an authenticator's token; it is not recorded.
    ///   - name: the name in the trace, instead of method and URL, which may contain a secret of the tested side.
    ///   - patience: further seconds, for which the other side was asked to wait.
    func answer(
        _ method: String, _ url: String, token: String? = nil, headers: [(name: String, value: String)] = [],
        body: [UInt8]? = nil, seconds: Int64 = Self.seconds, patience: Int64 = 0, name: String? = nil,
        trace: Trace
    ) async throws(WireError) -> WireAnswer {
        var request = HTTPClientRequest(url: url)
        request.method = HTTPMethod(rawValue: method)
        for header in headers { request.headers.add(name: header.name, value: header.value) }
        if let token {
            secrets.add(token)
            request.headers.add(name: "authorization", value: "Bearer \(token)")
        }
        if let body {
            if !request.headers.contains(name: "content-type") {
                request.headers.add(name: "content-type", value: "application/json")
            }
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        let began = ContinuousClock.now
        func note(_ received: String, _ bytes: [UInt8]) {
            for body in [body ?? [], bytes] { secrets.add(from: body) }
            trace.add(
                Exchange(
                    sent: name ?? "\(method) \(url)", sentBody: body ?? [], received: received, receivedBody: bytes,
                    milliseconds: Int(began.duration(to: .now) / .milliseconds(1))))
        }
        do {
            let response = try await client.execute(request, timeout: .seconds(seconds + patience))
            let bytes = Array(try await response.body.collect(upTo: Self.maxBytes).readableBytesView)
            let type = response.headers.first(name: "content-type")
            note("HTTP \(response.status.code)\(type.map { " \(EscapedText.of($0))" } ?? "")", bytes)
            return WireAnswer(
                status: Int(response.status.code), contentType: type, body: bytes,
                seconds: began.duration(to: .now) / .seconds(1))
        } catch {
            let problem = WireError(error, host: URL(string: url)?.host() ?? url)
            note(problem.description, [])
            throw problem
        }
    }
}

/// An answer with any status.
struct WireAnswer: Sendable {
    let status: Int
    let contentType: String?
    let body: [UInt8]
    let seconds: Double

    /// The member `code` of a problem (RFC 9457), or `nil` if the body is not a problem.
    var code: String? { try? object?.string("code") }

    /// The body as an object, or `nil` if it is not one.
    var object: JSONObject? {
        try? JSONReader.object(body, limits: JSONLimits(maxBytes: Wire.maxBytes, maxValues: 100_000))
    }

    /// The answer for a message: "HTTP 422 invalid_assertion", "HTTP 200", "HTTP 404 with text/html".
    var shown: String {
        if let code { return "HTTP \(status) \(EscapedText.of(code))" }
        guard status >= 300, let contentType, !contentType.hasPrefix("application/") else { return "HTTP \(status)" }
        return "HTTP \(status) with \(EscapedText.of(contentType, limit: 40))"
    }
}

/// The reason why a call has no answer, in words that follow "the issuer".
struct WireError: Error, CustomStringConvertible {
    let description: String

    init(_ error: any Error, host: String) {
        description =
            switch error {
            case is NIOTooManyBytesError: "answered with more than \(Wire.maxBytes) bytes"
            case let error as HTTPClientError: Self.words(error)
            case let error as NIOConnectionError:
                error.connectionErrors.isEmpty ? "has a host name that was not found" : "takes no connection"
            case NIOSSLError.handshakeFailed(let cause): "failed in TLS: \(Self.words("\(cause)"))"
            case is NIOSSLError: "failed in TLS"
            case let error as BoringSSLError: "failed in TLS: \(Self.words("\(error)"))"
            case is NIOSSLExtraError: "has a certificate that is not for \(host)"
            case is NoSubjectAltNameError:
                "has a certificate without a subjectAltName: put \(host) there, as a name in CN alone does not count"
            case is HTTPParserError: "answered with what is not HTTP"
            case let error as IOError: "broke the connection (errno \(error.errnoCode))"
            case is CancellationError: "was not waited for any longer"
            default: "could not be asked (\(Self.words("\(error)")))"
            }
    }

    private static func words(_ error: HTTPClientError) -> String {
        switch error {
        case .deadlineExceeded, .readTimeout: "did not answer in time"
        case .connectTimeout: "took no connection in time"
        case .remoteConnectionClosed: "closed the connection before its answer was complete"
        case .cancelled: "was not waited for any longer"
        default: "could not be asked (\(error.shortDescription))"
        }
    }

    private static func words(_ text: String) -> String {
        for (name, sentence) in [
            ("CERTIFICATE_VERIFY_FAILED", "its certificate does not lead to a trusted root, or is not valid now"),
            ("WRONG_VERSION_NUMBER", "what answers does not speak TLS"),
            ("UNSUPPORTED_PROTOCOL", "it speaks neither TLS 1.2 nor TLS 1.3"),
            ("ALERT_PROTOCOL_VERSION", "it speaks neither TLS 1.2 nor TLS 1.3"),
        ] where text.contains(name) {
            return sentence
        }
        return EscapedText.of(text, limit: 120)
    }
}
