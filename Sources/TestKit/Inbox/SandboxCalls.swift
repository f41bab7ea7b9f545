import AsyncHTTPClient
import Control
import NIOCore
import NIOHTTP1
import StrictJSON
import TextAndTime

/// Calls to a request's issuer if it is a sandbox on this machine, over plain HTTP.
///
/// No other issuer has these calls, so they go to loopback addresses only.
struct SandboxCalls: Sendable {
    private static let patience = TimeAmount.seconds(3)
    private static let maxBytes = 1_048_576
    private static let loopback = ["http://localhost:", "http://127.0.0.1:", "http://[::1]:"]

    /// Returns whether the issuer may be a sandbox.
    static func mayBeSandbox(_ issuer: String) -> Bool { loopback.contains { issuer.hasPrefix($0) } }

    /// Returns the address of the purchase's page, or `nil` unless the issuer is a sandbox that has the purchase.
    func link(to request: RequestView) async -> String? {
        guard let url = Self.url(of: request), await diagram(of: request) != nil else { return nil }
        return url
    }

    /// Gets the diagram of the purchase's EMV messages, as SVG.
    func diagram(of request: RequestView) async -> [UInt8]? {
        guard let url = Self.url(of: request),
            let (response, body) = try? await call(.init(url: url + "/sequence.svg")),
            response.status == .ok, response.headers.first(name: "content-type")?.hasPrefix("image/svg+xml") == true
        else { return nil }
        return body
    }

    /// Makes the sandbox list the request again, or start the same transaction as a new purchase.
    ///
    /// - Returns: the reason for a failure, or `nil` after a success.
    func replay(_ request: RequestView, asNew: Bool) async -> String? {
        guard Self.mayBeSandbox(request.issuer) else { return "Only a sandbox on this machine replays a request." }
        var call = HTTPClientRequest(
            url: request.issuer + "/sandbox/purchases/\(PercentEncoding.encode(request.acsTransId))/replay")
        call.method = .POST
        call.headers.add(name: "content-type", value: "application/json")
        call.body = .bytes(ByteBuffer(string: asNew ? #"{"asNew":true}"# : "{}"))
        guard let (response, body) = try? await self.call(call) else { return "The sandbox does not answer." }
        guard (200..<300).contains(response.status.code) else {
            let detail = (try? JSONReader.object(body, limits: JSONLimits(maxBytes: Self.maxBytes)))?["detail"]
            if case .string(let sentence)? = detail { return "The sandbox refuses: \(sentence)" }
            return "The issuer is no sandbox: HTTP status \(response.status.code)."
        }
        return nil
    }

    private static func url(of request: RequestView) -> String? {
        guard mayBeSandbox(request.issuer), !request.acsTransId.isEmpty else { return nil }
        return request.issuer + "/purchases/" + PercentEncoding.encode(request.acsTransId)
    }

    private func call(_ request: HTTPClientRequest) async throws -> (HTTPClientResponse, [UInt8]) {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let response = try await client.execute(request, timeout: Self.patience)
            let body = try await response.body.collect(upTo: Self.maxBytes)
            try await client.shutdown()
            return (response, Array(body.readableBytesView))
        } catch {
            try? await client.shutdown()
            throw error
        }
    }
}
