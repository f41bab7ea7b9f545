internal import AsyncHTTPClient
internal import FoundationEssentials
internal import Glibc
internal import NIOCore
internal import NIOHTTP1

/// Carries one call over the Unix socket: HTTP/1.1, no redirects, no second try.
struct ControlTransport: Sendable {
    let socketPath: String

    func answer(to call: ControlCall) async throws(ClientFailure) -> ControlAnswer {
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: Self.configuration)
        let result = await outcome(of: call, by: client)
        // Nothing waits in this client any more, and what it answered is at hand.
        try? await client.shutdown()
        return try result.get()
    }

    private func outcome(of call: ControlCall, by client: HTTPClient) async -> Result<ControlAnswer, ClientFailure> {
        do {
            let request = try request(for: call)
            let response = try await client.execute(request, timeout: .seconds(Int64(call.seconds)))
            let body = try await response.body.collect(upTo: ControlJSON.maxAnswerOctets)
            return .success(
                ControlAnswer(
                    status: response.status.code, contentType: response.headers.first(name: "content-type"),
                    body: Array(body.readableBytesView)))
        } catch {
            return .failure(failure(for: error, of: call))
        }
    }

    private func request(for call: ControlCall) throws(HTTPClientError) -> HTTPClientRequest {
        guard let url = URL(httpURLWithSocketPath: socketPath, uri: call.target) else { throw .invalidURL }
        var request = HTTPClientRequest(url: url.absoluteString)
        request.method = HTTPMethod(rawValue: call.method.rawValue)
        request.headers.add(name: "accept", value: "application/json")
        if let body = call.body {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        return request
    }

    private func failure(for error: any Error, of call: ControlCall) -> ClientFailure {
        switch error {
        case let error as IOError where [ECONNREFUSED, ENOENT, ENOTDIR].contains(error.errnoCode):
            .nobodyListens(at: [socketPath])
        case let error as IOError where error.errnoCode == EACCES:
            .unreachable("The socket \(socketPath) may not be used by this user: ask who runs the agent for access.")
        case let error as HTTPClientError where error == .connectTimeout:
            .unreachable("The agent at \(socketPath) does not take connections.")
        case let error as HTTPClientError where error == .deadlineExceeded:
            .unclear("The agent did not answer within \(call.seconds) s; what was asked may have been done.")
        case is NIOTooManyBytesError:
            .unclear("The agent's answer has more than 8 MiB: ask for less, such as with --limit.")
        default:
            .unclear("The connection to the agent ended before its answer; what was asked may have been done.")
        }
    }

    private static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = .seconds(5)
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }
}
