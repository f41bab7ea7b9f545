internal import AsyncHTTPClient
internal import FoundationEssentials
internal import Glibc
internal import NIOCore
internal import NIOHTTP1

/// Carries one call over the Unix socket: HTTP/1.1, no redirects, no second try.
struct ControlTransport: Sendable {
    /// Between two tries to get into the agent's queue of connections.
    private static let pause: Duration = .milliseconds(20)

    let socketPath: String
    /// Says whom the client trusts.
    let environment: [String: String]
    /// For whoever would rather wait than hear nothing, such as a test on a slow machine.
    let leastSeconds: Int

    func answer(to call: ControlCall) async throws(ClientError) -> ControlAnswer {
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result = await outcome(of: call, by: client)
        // Nothing waits in this client any more, and what it answered is at hand.
        try? await client.shutdown()
        return try result.get()
    }

    /// Lets `take` have the bytes of a good answer's body as they come, until it ends in whatever way.
    ///
    /// - Parameter silence: the seconds without a byte after which the agent is taken to be gone.
    /// - Parameter opened: called when there is a good answer, before its body.
    /// - Returns: whether it came to its end; false if the connection broke before.
    /// - Throws: if there is no good answer, and what `take` throws.
    @discardableResult
    func stream(
        _ call: ControlCall, silence: Int, opened: () -> Void = {}, _ take: ([UInt8]) throws(ClientError) -> Void
    ) async throws(ClientError) -> Bool {
        var configuration = configuration
        configuration.timeout.read = .seconds(Int64(silence))
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let result: Result<Bool, ClientError>
        do throws(ClientError) {
            let response = try await goodAnswer(to: call, by: client)
            opened()
            result = .success(try await Self.pass(response.body, to: take))
        } catch {
            result = .failure(error)
        }
        try? await client.shutdown()
        return try result.get()
    }

    /// The head of an answer of the type that was asked for; any other is read as the agent's error.
    private func goodAnswer(
        to call: ControlCall, by client: HTTPClient
    ) async throws(ClientError) -> HTTPClientResponse {
        let answer: ControlAnswer
        do {
            let response = try await execute(call, by: client)
            let contentType = response.headers.first(name: "content-type")
            if response.status == .ok, contentType == call.accepted { return response }
            let body = try await response.body.collect(upTo: ControlJSON.maxCommandBytes)
            answer = ControlAnswer(
                status: response.status.code, contentType: contentType,
                server: response.headers.first(name: "server"), body: Array(body.readableBytesView))
        } catch {
            throw failure(for: error, of: call)
        }
        throw answer.problem
    }

    private static func pass(
        _ body: HTTPClientResponse.Body, to take: ([UInt8]) throws(ClientError) -> Void
    ) async throws(ClientError) -> Bool {
        var pieces = body.makeAsyncIterator()
        while true {
            let piece: ByteBuffer?
            do { piece = try await pieces.next() } catch { return false }
            guard let piece else { return true }
            try take(Array(piece.readableBytesView))
        }
    }

    private func outcome(of call: ControlCall, by client: HTTPClient) async -> Result<ControlAnswer, ClientError> {
        do {
            let response = try await execute(call, by: client)
            let body = try await response.body.collect(upTo: ControlJSON.maxAnswerBytes)
            return .success(
                ControlAnswer(
                    status: response.status.code, contentType: response.headers.first(name: "content-type"),
                    server: response.headers.first(name: "server"),
                    hasNext: response.headers["link"].contains { $0.hasSuffix("rel=\"next\"") },
                    body: Array(body.readableBytesView)))
        } catch {
            return .failure(failure(for: error, of: call))
        }
    }

    /// Sends a call and waits for its answer's head.
    ///
    /// The kernel takes no connection while the agent's queue of them is full. Nothing was sent then, so that is tried
    /// again for a while.
    private func execute(_ call: ControlCall, by client: HTTPClient) async throws -> HTTPClientResponse {
        let request = try request(for: call)
        let end = ContinuousClock.now + .seconds(connectSeconds)
        while true {
            do {
                return try await client.execute(request, timeout: limit(of: call))
            } catch let error as IOError where error.errnoCode == EAGAIN && .now < end {
                try await Task.sleep(for: Self.pause)
            }
        }
    }

    private func request(for call: ControlCall) throws(HTTPClientError) -> HTTPClientRequest {
        guard let url = URL(httpURLWithSocketPath: socketPath, uri: call.target) else { throw .invalidURL }
        var request = HTTPClientRequest(url: url.absoluteString)
        request.method = HTTPMethod(rawValue: call.method.rawValue)
        request.headers.add(name: "accept", value: call.accepted)
        if let last = call.lastEventID { request.headers.add(name: ServerSentEvents.lastEventID, value: "\(last)") }
        if let body = call.body {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        return request
    }

    private func failure(for error: any Error, of call: ControlCall) -> ClientError {
        switch error {
        case let error as IOError where [ECONNREFUSED, ENOENT, ENOTDIR].contains(error.errnoCode):
            .nobodyListens(at: [socketPath])
        case let error as IOError where error.errnoCode == EACCES:
            .unreachable("The socket \(socketPath) may not be used by this user: ask who runs the agent for access.")
        case let failure as ClientError: failure
        case let error as IOError where error.errnoCode == EAGAIN:
            .unreachable("The agent at \(socketPath) does not take connections: too many wait already.")
        case let error as HTTPClientError where error == .connectTimeout:
            .unreachable("The agent at \(socketPath) does not take connections.")
        case let error as HTTPClientError where error == .deadlineExceeded:
            .unclear("The agent did not answer within \(call.seconds) s; what was asked may have been done.")
        case let error as HTTPParserError where error != .invalidEOFState:
            .unreachable("What listens on the socket \(socketPath) does not answer in HTTP: it is no oob-agent.")
        case is NIOTooManyBytesError:
            .unclear("The agent's answer has more than 8 MiB: ask for less, such as with --limit.")
        default:
            .unclear("The connection to the agent ended before its answer; what was asked may have been done.")
        }
    }

    /// How long a client waits until the agent takes its connection, in seconds.
    private var connectSeconds: Int { max(5, leastSeconds) }

    private func limit(of call: ControlCall) -> TimeAmount { .seconds(Int64(max(call.seconds, leastSeconds))) }

    private var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.httpVersion = .http1Only
        configuration.timeout.connect = .seconds(Int64(connectSeconds))
        // Before anything is sent on it.
        configuration.http1_1ConnectionDebugInitializer = { [socketPath, environment] channel in
            channel.eventLoop.submit {
                let listener = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
                    of: NIOBSDSocket.Handle.self, SocketTrust.listener)
                try SocketTrust.check(listener: listener ?? nil, at: socketPath, environment: environment)
            }.flatMapErrorThrowing { error in
                channel.close(promise: nil)
                throw error
            }
        }
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }
}
