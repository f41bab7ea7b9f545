import HTTPTypes
import Hummingbird
import IssuerProtocol
import NIOCore
import StrictJSON
import Synchronization

/// The issuer that a server serves, once its port is known.
final class KitHolder: Sendable {
    private let issuer = Mutex<KitIssuer?>(nil)

    func set(_ issuer: KitIssuer) { self.issuer.withLock { $0 = issuer } }

    func get() -> KitIssuer? { issuer.withLock { $0 } }
}

/// The calls of the protocol over HTTP.
struct KitResponder: HTTPResponder {
    struct Context: InitializableFromSource {
        init(source: ApplicationRequestContextSource) {}
    }

    private static let maxBody = 1_048_576
    /// How often a poll looks for what was listed meanwhile.
    private static let lookEvery = Duration.milliseconds(50)

    let holder: KitHolder

    func respond(to request: Request, context: Context) async throws -> Response {
        guard let issuer = holder.get() else { return KitAnswer(status: 503).response }
        let body = Array(try await request.body.collect(upTo: Self.maxBody).readableBytesView)
        guard let call = KitCall(request, body) else {
            return try await Self.answer(to: request, body, by: issuer).response
        }
        guard let script = issuer.note(call) else {
            return try await Self.answer(to: request, body, by: issuer).response
        }
        if script.isTaken { _ = try await Self.answer(to: request, body, by: issuer) }
        return script.answer.response
    }

    private static func answer(
        to request: Request, _ body: [UInt8], by issuer: KitIssuer
    ) async throws -> KitAnswer {
        let token = request.headers[.authorization].flatMap { text -> String? in
            text.lowercased().hasPrefix("bearer ") ? String(text.dropFirst("bearer ".count)) : nil
        }
        let path = request.uri.path
        switch (request.method, path) {
        case (.get, "/.well-known/oob-authenticator"): return issuer.discovery()
        case (.get, "/jwks.json"): return issuer.keys()
        case (.post, "/options"): return try issuer.options(body)
        case (.post, "/enrollments"): return try issuer.enroll(body)
        case (.get, "/authn-requests"): return try await requests(request, token, by: issuer)
        case (.post, "/batch-fetch"): return try await batch(body, by: issuer)
        case (.get, "/authenticator"): return issuer.status(of: token)
        case (.delete, "/authenticator"): return issuer.unenroll(token)
        case (.put, "/authenticator/push-subscription"), (.delete, "/authenticator/push-subscription"):
            return KitAnswer(status: 204)
        case (.post, _) where path.hasPrefix("/authn-requests/") && path.hasSuffix("/decision"):
            let jti = path.dropFirst("/authn-requests/".count).dropLast("/decision".count)
            return issuer.decide(String(jti), of: token, body)
        default: return KitAnswer(status: 404)
        }
    }

    private static func batch(_ body: [UInt8], by issuer: KitIssuer) async throws -> KitAnswer {
        guard let request = try? BatchFetchRequest(bytes: body) else { return .problem(.invalidRequest) }
        let end = ContinuousClock.now + .seconds(request.wait)
        while true {
            if let answer = issuer.batch(request) { return answer }
            guard ContinuousClock.now < end else { return .json(200, BatchFetchAnswer(results: []).json) }
            try await Task.sleep(for: lookEvery)
        }
    }

    /// A long poll is held until there is something, or its `wait` is over.
    private static func requests(
        _ request: Request, _ token: String?, by issuer: KitIssuer
    ) async throws -> KitAnswer {
        let query = request.uri.queryParameters
        let after = query["after"].map {
            PercentEncoding.decode(String($0)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
        let wait = query["wait"].flatMap { Int($0) } ?? 0
        let end = ContinuousClock.now + .seconds(min(max(wait, 0), 60))
        while true {
            if let answer = issuer.requests(of: token, after: after) { return answer }
            guard ContinuousClock.now < end else { return issuer.nothing(after: after) }
            try await Task.sleep(for: lookEvery)
        }
    }
}

extension KitCall {
    /// Nil if it is to none of the endpoints that a case can be about.
    fileprivate init?(_ request: Request, _ body: [UInt8]) {
        let path = request.uri.path
        let isDecision = path.hasSuffix("/decision")
        let jti = path.dropFirst("/authn-requests/".count).dropLast("/decision".count)
        let endpoint: KitEndpoint? =
            switch (request.method, path) {
            case (.get, "/.well-known/oob-authenticator"): .discovery
            case (.get, "/jwks.json"): .keys
            case (.post, "/options"): .options
            case (.post, "/enrollments"): .enrollments
            case (.get, "/authn-requests"): .requests
            case (.post, "/batch-fetch"): .batch
            case (.get, "/authenticator"): .status
            case (.post, _) where isDecision: .decision
            default: nil
            }
        guard let endpoint else { return nil }
        self.init(
            endpoint: endpoint, jti: isDecision ? String(jti) : nil,
            hasCursor: request.uri.queryParameters["after"] != nil, body: body)
    }
}

extension KitAnswer {
    fileprivate var response: Response {
        var headers = HTTPFields()
        if let contentType { headers[.contentType] = contentType }
        if let location { headers[.location] = location }
        if let retryAfter { headers[.retryAfter] = String(retryAfter) }
        if status == 401 { headers[.wwwAuthenticate] = "Bearer" }
        return Response(
            status: .init(integerLiteral: status), headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: body)))
    }
}
