import IssuerProtocol
import NIOHTTP1
import StrictJSON
import Synchronization

/// The issuer that a server serves: once its port is known, until its case is over.
final class KitHolder: Sendable {
    /// The most connections to a case's issuer; one more is closed.
    private static let maxConnections = 64

    private let issuer = Mutex<KitIssuer?>(nil)
    private let connections = Mutex(0)

    func set(_ issuer: KitIssuer?) { self.issuer.withLock { $0 = issuer } }

    func get() -> KitIssuer? { issuer.withLock { $0 } }

    /// Takes a place for a connection; false if there is none.
    func connects() -> Bool {
        connections.withLock { count in
            guard count < Self.maxConnections else { return false }
            count += 1
            return true
        }
    }

    func disconnects() { connections.withLock { $0 -= 1 } }
}

/// What a request says before its body.
struct KitRequestHead: Sendable {
    let method: String
    /// Without the query.
    let path: String
    /// Decoded; if a name is given twice, the first counts.
    let query: [String: String]
    let token: String?

    init(_ head: HTTPRequestHead) {
        method = head.method.rawValue
        let parts = head.uri.split(separator: "?", maxSplits: 1)
        path = parts.first.map(String.init) ?? ""
        let pairs = parts.dropFirst().first?.split(separator: "&") ?? []
        query = Dictionary(
            pairs.compactMap { pair in
                let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard halves.count == 2, let value = PercentEncoding.decode(String(halves[1])) else { return nil }
                return (String(halves[0]), String(decoding: value, as: UTF8.self))
            }, uniquingKeysWith: { first, _ in first })
        token = head.headers.first(name: "authorization").flatMap { text in
            text.lowercased().hasPrefix("bearer ") ? String(text.dropFirst("bearer ".count)) : nil
        }
    }
}

/// The calls of the protocol.
enum KitResponder {
    /// How often a poll looks for what was listed meanwhile.
    private static let lookEvery = Duration.milliseconds(50)

    static func answer(to request: KitRequestHead, _ body: [UInt8], by holder: KitHolder) async -> KitAnswer {
        guard let issuer = holder.get() else { return KitAnswer(status: 503) }
        let isOver: @Sendable () -> Bool = { holder.get() == nil }
        do {
            let script = KitCall(request, body).flatMap(issuer.note)
            guard let script else { return try await answer(to: request, body, by: issuer, until: isOver) }
            if script.isTaken { _ = try await answer(to: request, body, by: issuer, until: isOver) }
            return script.answer
        } catch {
            return KitAnswer(status: 500)
        }
    }

    private static func answer(
        to request: KitRequestHead, _ body: [UInt8], by issuer: KitIssuer, until isOver: @Sendable () -> Bool
    ) async throws -> KitAnswer {
        let (token, path) = (request.token, request.path)
        switch (request.method, path) {
        case ("GET", "/.well-known/oob-authenticator"): return issuer.discovery()
        case ("GET", "/jwks.json"): return issuer.keys()
        case ("POST", "/options"): return try issuer.options(body)
        case ("POST", "/enrollments"): return try issuer.enroll(body)
        case ("GET", "/authn-requests"): return try await requests(request, by: issuer, until: isOver)
        case ("POST", "/batch-fetch"): return try await batch(body, by: issuer, until: isOver)
        case ("GET", "/authenticator"): return issuer.status(of: token)
        case ("DELETE", "/authenticator"): return issuer.unenroll(token)
        case ("PUT", "/authenticator/push-subscription"), ("DELETE", "/authenticator/push-subscription"):
            return KitAnswer(status: 204)
        case ("POST", _) where path.hasPrefix("/authn-requests/") && path.hasSuffix("/decision"):
            let jti = path.dropFirst("/authn-requests/".count).dropLast("/decision".count)
            return issuer.decide(String(jti), of: token, body)
        default: return KitAnswer(status: 404)
        }
    }

    private static func batch(
        _ body: [UInt8], by issuer: KitIssuer, until isOver: () -> Bool
    ) async throws -> KitAnswer {
        guard let request = try? BatchFetchRequest(bytes: body) else { return .problem(.invalidRequest) }
        let end = ContinuousClock.now + .seconds(request.wait)
        while true {
            if let answer = issuer.batch(request) { return answer }
            guard ContinuousClock.now < end, !isOver() else { return .json(200, BatchFetchAnswer(results: []).json) }
            try await Task.sleep(for: lookEvery)
        }
    }

    /// A long poll is held until there is something, or its `wait` is over.
    private static func requests(
        _ request: KitRequestHead, by issuer: KitIssuer, until isOver: () -> Bool
    ) async throws -> KitAnswer {
        let (after, wait) = (request.query["after"], request.query["wait"].flatMap { Int($0) } ?? 0)
        let end = ContinuousClock.now + .seconds(min(max(wait, 0), 60))
        while true {
            if let answer = issuer.requests(of: request.token, after: after) { return answer }
            guard ContinuousClock.now < end, !isOver() else { return issuer.nothing(after: after) }
            try await Task.sleep(for: lookEvery)
        }
    }
}

extension KitCall {
    /// Nil if it is to none of the endpoints that a case can be about.
    fileprivate init?(_ request: KitRequestHead, _ body: [UInt8]) {
        let path = request.path
        let isDecision = path.hasSuffix("/decision")
        let jti = path.dropFirst("/authn-requests/".count).dropLast("/decision".count)
        let endpoint: KitEndpoint? =
            switch (request.method, path) {
            case ("GET", "/.well-known/oob-authenticator"): .discovery
            case ("GET", "/jwks.json"): .keys
            case ("POST", "/options"): .options
            case ("POST", "/enrollments"): .enrollments
            case ("GET", "/authn-requests"): .requests
            case ("POST", "/batch-fetch"): .batch
            case ("GET", "/authenticator"): .status
            case ("POST", _) where isDecision: .decision
            default: nil
            }
        guard let endpoint else { return nil }
        self.init(
            endpoint: endpoint, jti: isDecision ? String(jti) : nil,
            hasCursor: request.query["after"] != nil, body: body)
    }
}

extension KitAnswer {
    var headers: [(String, String)] {
        var fields: [(String, String)] = []
        if let contentType { fields.append(("content-type", contentType)) }
        if let location { fields.append(("location", location)) }
        if let retryAfter { fields.append(("retry-after", String(retryAfter))) }
        if status == 401 { fields.append(("www-authenticate", "Bearer")) }
        return fields
    }
}
