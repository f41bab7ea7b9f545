internal import AsyncHTTPClient
internal import Authenticator
internal import IssuerProtocol
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

/// Carries one call to an issuer and brings its answer, within the call's bounds.
struct IssuerTransport: Sendable {
    let clients: ClientCache
    let present: PresentRoad
    private let version: String
    private let clock: any AgentClock

    init(version: String, network: OutboundNetwork, clock: any AgentClock, limits: TransportLimits) {
        clients = ClientCache(limits: limits)
        present = PresentRoad(network)
        self.version = version
        self.clock = clock
    }

    func answer(to call: IssuerCall, by target: IssuerTarget) async throws(IssuerError) -> IssuerAnswer {
        // A request may leave before the client hears of the cancellation.
        guard !Task.isCancelled else { throw .cancelled }
        let network = present.network
        let diagnosis = ConnectionDiagnosis(to: target, network)
        let needs = ClientNeeds(roots: target.rootsPEM, proxy: diagnosis.proxy, identity: network.identity)
        return try await clients.withPair(for: needs) { pair throws(IssuerError) in
            try await answerInTime(to: call, by: pair.client(for: call.pool), diagnosis).get()
        }
    }

    private func answerInTime(
        to call: IssuerCall, by client: HTTPClient, _ diagnosis: ConnectionDiagnosis
    ) async -> Result<IssuerAnswer, IssuerError> {
        let reader = AnswerReader(maxBytes: call.maxBytes)
        let isLate = Mutex(false)
        do {
            let exchange = client.execute(request: try request(for: call), delegate: reader)
            let deadline = clock.alarm(after: call.seconds) {
                isLate.withLock { $0 = true }
                exchange.cancel()
            }
            defer { deadline.cancel() }
            let body = try await withTaskCancellationHandler {
                try await exchange.get()
            } onCancel: {
                exchange.cancel()
            }
            return .success(answer(reader.head, body))
        } catch is AnswerReader.RedirectError {
            return .success(answer(reader.head, ByteBuffer()))
        } catch {
            if isLate.withLock(\.self) {
                return .failure(
                    .transient(reason: "the issuer did not answer within \(Int(call.seconds)) s", retryAfter: nil))
            }
            if Task.isCancelled { return .failure(.cancelled) }
            return .failure(diagnosis.failure(error, reading: call, retryAfter: retryAfter(of: reader.head)))
        }
    }

    private func answer(_ head: HTTPResponseHead, _ body: ByteBuffer) -> IssuerAnswer {
        IssuerAnswer(
            status: head.status.code, contentType: head.headers.first(name: "content-type"),
            retryAfter: retryAfter(of: head), body: Array(body.readableBytesView))
    }

    private func request(for call: IssuerCall) throws -> HTTPClient.Request {
        var request = try HTTPClient.Request(url: call.url, method: call.method)
        request.headers.add(name: "accept", value: "application/json")
        request.headers.add(name: "accept-encoding", value: "identity")
        request.headers.add(name: "user-agent", value: "oob-agent/\(version)")
        if let token = call.token {
            request.headers.add(name: "authorization", value: "Bearer \(token.reveal())")
        }
        if let traceparent = call.traceparent {
            request.headers.add(name: "traceparent", value: traceparent.text)
        }
        if let body = call.body {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .byteBuffer(body)
        }
        return request
    }

    /// Only a server that is busy (429, 503) is asked when to come again.
    private func retryAfter(of response: HTTPResponseHead) -> Int64? {
        guard response.status == .tooManyRequests || response.status == .serviceUnavailable else { return nil }
        return response.headers.first(name: "retry-after").flatMap { RetryAfter.seconds($0, now: clock.now) }
    }
}
