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

    /// The client's own deadline ends with the head of an answer; this one covers the body as well.
    private func answerInTime(
        to call: IssuerCall, by client: HTTPClient, _ diagnosis: ConnectionDiagnosis
    ) async -> Result<IssuerAnswer, IssuerError> {
        let isLate = Mutex(false)
        let exchanged = try? await cuttable {
            await exchange(call, by: client, diagnosis)
        } whenBegun: { cut in
            let deadline = clock.alarm(after: call.seconds) {
                isLate.withLock { $0 = true }
                cut()
            }
            return { deadline.cancel() }
        }
        if let exchanged, case .success = exchanged { return exchanged }
        guard !isLate.withLock(\.self) else {
            return .failure(
                .transient(reason: "the issuer did not answer within \(Int(call.seconds)) s", retryAfter: nil))
        }
        return Task.isCancelled ? .failure(.cancelled) : exchanged ?? .failure(.cancelled)
    }

    private func exchange(
        _ call: IssuerCall, by client: HTTPClient, _ diagnosis: ConnectionDiagnosis
    ) async -> Result<IssuerAnswer, IssuerError> {
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request(for: call), deadline: .distantFuture)
        } catch {
            return .failure(diagnosis.failure(error, reading: call, retryAfter: nil))
        }
        let retryAfter = retryAfter(of: response)
        do {
            // Nobody reads what is beside a redirect.
            let isRedirect = (300..<400).contains(response.status.code)
            let body = isRedirect ? ByteBuffer() : try await response.body.collect(upTo: call.maxBytes)
            return .success(
                IssuerAnswer(
                    status: response.status.code, contentType: response.headers.first(name: "content-type"),
                    retryAfter: retryAfter, body: Array(body.readableBytesView)))
        } catch {
            return .failure(diagnosis.failure(error, reading: call, retryAfter: retryAfter))
        }
    }

    private func request(for call: IssuerCall) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: call.url)
        request.method = call.method
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
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        return request
    }

    /// Only a server that is busy (429, 503) is asked when to come again.
    private func retryAfter(of response: HTTPClientResponse) -> Int64? {
        guard response.status == .tooManyRequests || response.status == .serviceUnavailable else { return nil }
        return response.headers.first(name: "retry-after").flatMap { RetryAfter.seconds($0, now: clock.now) }
    }
}
