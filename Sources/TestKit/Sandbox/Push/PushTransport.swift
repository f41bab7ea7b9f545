import AsyncHTTPClient
import IssuerProtocol
import Keys
import NIOCore
import NIOHTTP1
package import NIOSSL
import ServerCertificates

/// Posts to push endpoints (RFC 8030 §5), without redirects and without a proxy.
package struct PushTransport: Sendable {
    /// The limit of an answer's body, in bytes; the body is read, but not used.
    private static let maxAnswer = 16_384

    private let client: HTTPClient
    private let limits: PushLimits

    /// Opens a transport for as long as `body` runs; pushes in progress then fail.
    static func withTransport<Value>(
        with tls: TLSConfiguration, limits: PushLimits, _ body: (PushTransport) async throws -> Value
    ) async throws -> Value {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(connect: .seconds(limits.connectSeconds)), decompression: .disabled)
        configuration.httpVersion = .http1Only
        configuration.http1_1ConnectionDebugInitializer = { SubjectAltName.require(on: $0) }
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let value = try await body(PushTransport(client: client, limits: limits))
            try? await client.shutdown()
            return value
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    /// Returns a TLS configuration that trusts the given roots, or without them the system's.
    package static func trusting(_ roots: [NIOSSLCertificate]?) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        if let roots { configuration.trustRoots = .certificates(roots) }
        return configuration
    }

    /// Makes one attempt, at `now` in seconds since 1970; the time limit includes the answer's body.
    func post(_ letter: PushLetter, now: Int64) async -> PushOutcome {
        await withTaskGroup(of: PushOutcome.self) { group in
            group.addTask { await exchange(letter, now: now) }
            group.addTask {
                try? await limits.answer()
                return .later(status: nil, retryAfter: nil)
            }
            defer { group.cancelAll() }
            return await group.next() ?? .later(status: nil, retryAfter: nil)
        }
    }

    private func exchange(_ letter: PushLetter, now: Int64) async -> PushOutcome {
        var request = HTTPClientRequest(url: letter.endpoint.text)
        request.method = .POST
        for field in letter.fields { request.headers.add(name: field.name, value: field.value) }
        request.body = .bytes(ByteBuffer(bytes: letter.body))
        do {
            let response = try await client.execute(request, deadline: .distantFuture)
            // Reading the body to the end makes the connection reusable; the content does not matter.
            _ = try? await response.body.collect(upTo: Self.maxAnswer)
            return PushOutcome(
                status: Int(response.status.code), retryAfter: response.headers.first(name: "retry-after"),
                now: now)
        } catch is NoSubjectAltNameError {
            return .notSent(.noSubjectAltName)
        } catch {
            return .later(status: nil, retryAfter: nil)
        }
    }
}

/// A push ready to post: encrypted (RFC 8291), with the issuer's VAPID token (RFC 8292).
struct PushLetter: Sendable {
    /// The lifetime of a VAPID token, in seconds; RFC 8292 §2 allows twice as many.
    private static let vapidLifetime: Int64 = 43_200

    let endpoint: PushEndpoint
    let fields: [(name: String, value: String)]
    let body: [UInt8]

    /// Encrypts and signs a push; `ttl` is in seconds, `now` in seconds since 1970.
    init(_ plain: [UInt8], to subscription: PushSubscription, ttl: Int64, signer: IssuerSigner, now: Int64) throws {
        endpoint = subscription.endpoint
        body = try subscription.recipient.encrypt(plain)
        fields = [
            (name: "Authorization", value: try signer.vapid(for: endpoint, exp: now + Self.vapidLifetime)),
            (name: "Content-Encoding", value: "aes128gcm"), (name: "Content-Type", value: "application/octet-stream"),
            (name: "TTL", value: String(ttl)), (name: "Urgency", value: "high"),
        ]
    }
}

/// The time limits for receivers of pushes.
package struct PushLimits: Sendable {
    /// Returns when a receiver's time to accept a push and to answer is up.
    package let answer: @Sendable () async throws -> Void
    package let connectSeconds: Int64

    package init(connectSeconds: Int64, answer: @escaping @Sendable () async throws -> Void) {
        self.connectSeconds = connectSeconds
        self.answer = answer
    }

    package static let standard = PushLimits(connectSeconds: 5) { try await Task.sleep(for: .seconds(10)) }
}
