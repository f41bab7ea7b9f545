internal import AsyncHTTPClient
internal import FairSharing
internal import IssuerProtocol
internal import NIOCore
internal import NIOHTTP1
import Records

/// Sends one call to an issuer and returns its answer, within the call's limits.
struct IssuerTransport: Sendable {
    let clients: ClientCache
    let present: CurrentNetwork
    private let places: ConnectionPlaces
    private let room: AnswerRoom
    private let keptConnections: Int
    private let version: String
    private let clock: any AgentClock

    init(version: String, network: OutboundNetwork, clock: any AgentClock, limits: TransportLimits) {
        clients = ClientCache(limits: limits)
        places = ConnectionPlaces(limits, clock)
        room = AnswerRoom(limits.room)
        keptConnections = limits.keptConnections
        present = CurrentNetwork(network)
        self.version = version
        self.clock = clock
    }

    func answer(to call: IssuerCall, by target: IssuerTarget) async throws(IssuerError) -> IssuerAnswer {
        // A request may leave before the client gets the cancellation.
        guard !Task.isCancelled else { throw .cancelled }
        let network = present.network
        let diagnosis = ConnectionDiagnosis(to: target, network)
        let needs = ClientNeeds(roots: target.rootsPEM, proxy: diagnosis.proxy, identity: network.identity)
        let begun = clock.steady
        let place = try await places.wait(for: target.issuer, call.pool)
        defer { place.leave() }
        var call = call
        // The caller of a call waits for the place and for the answer. Only the agent itself waits for a poll's place.
        if call.pool == .calls { call.seconds -= (clock.steady - begun).rounded(.down) }
        return try await clients.withPair(for: needs) { pair throws(IssuerError) in
            try await answerInTime(to: call, at: target.issuer, by: pair.client(for: call.pool), diagnosis).get()
        }
    }

    private func answerInTime(
        to call: IssuerCall, at issuer: IssuerURL, by client: HTTPClient, _ diagnosis: ConnectionDiagnosis
    ) async -> Result<IssuerAnswer, IssuerError> {
        let deadline = AnswerDeadline(of: call, clock)
        let reader = AnswerReader(
            issuer, in: room.queue(of: call.pool), maxBytes: call.maxBytes, clock: clock, onPace: deadline.follow)
        do {
            let exchange = client.execute(request: try request(for: call), delegate: reader)
            deadline.start { exchange.cancel() }
            defer { deadline.cancel() }
            let received = try await withTaskCancellationHandler {
                try await exchange.get()
            } onCancel: {
                exchange.cancel()
            }
            return .success(answer(received))
        } catch is AnswerReader.RedirectError {
            return .success(answer(AnswerReader.Received(head: reader.head)))
        } catch {
            reader.giveUp()
            if let late = deadline.late { return .failure(.transient(reason: late, retryAfter: nil)) }
            if Task.isCancelled { return .failure(.cancelled) }
            return .failure(diagnosis.failure(error, reading: call, retryAfter: retryAfter(of: reader.head)))
        }
    }

    private func answer(_ received: AnswerReader.Received) -> IssuerAnswer {
        IssuerAnswer(
            status: received.head.status.code, contentType: received.head.headers.first(name: "content-type"),
            retryAfter: retryAfter(of: received.head), body: received.body, room: received.ticket)
    }

    private func request(for call: IssuerCall) throws -> HTTPClient.Request {
        var request = try HTTPClient.Request(url: call.url, method: call.method)
        request.headers.add(name: "accept", value: "application/json")
        request.headers.add(name: "accept-encoding", value: "identity")
        request.headers.add(name: "user-agent", value: "oob-agent/\(version)")
        // A connection that is kept alive uses a descriptor too.
        if clients.open.count >= keptConnections { request.headers.add(name: "connection", value: "close") }
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

    /// Seconds from `Retry-After`, only if the server is busy (429, 503).
    private func retryAfter(of response: HTTPResponseHead) -> Int64? {
        guard response.status == .tooManyRequests || response.status == .serviceUnavailable else { return nil }
        return response.headers.first(name: "retry-after").flatMap { RetryAfter.seconds($0, now: clock.now) }
    }
}
