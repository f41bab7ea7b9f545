package import IssuerProtocol
internal import NIOHTTP1
package import Records
internal import StrictJSON

/// The issuer protocol over HTTP: one request for each call, without retries, and without following redirects.
///
/// A call ends early when its task is cancelled. Call `shutdown()` before the last copy is released.
package struct HTTPIssuerGateway: IssuerGateway, Sendable {
    private let transport: IssuerTransport
    private let bounds: AnswerBounds

    /// Sends `version` to the issuers; uses `clock` for the limits of calls and for dates in answers.
    package init(version: String, network: OutboundNetwork, clock: any AgentClock, bounds: AnswerBounds = .standard) {
        var limits = TransportLimits.standard
        limits.room = AnswerRoom.Bounds(bytes: bounds.bytesInAll)
        self.init(version: version, network: network, clock: clock, bounds: bounds, limits: limits)
    }

    init(
        version: String, network: OutboundNetwork, clock: any AgentClock, bounds: AnswerBounds, limits: TransportLimits
    ) {
        self.bounds = bounds
        transport = IssuerTransport(version: version, network: network, clock: clock, limits: limits)
    }

    private func call(_ method: HTTPMethod, _ url: String) -> IssuerCall {
        IssuerCall(method, url, maxBytes: bounds.bodyBytes)
    }

    /// Ends all calls and closes all connections; later calls fail.
    package func shutdown() async { await transport.clients.shutdown() }

    /// Uses another network path from the next call on; calls in progress keep theirs.
    package func use(_ network: OutboundNetwork) { transport.present.replace(by: network) }

    package func problem(withRoots pem: String) -> String? {
        do throws(RootsError) {
            _ = try TrustedRoots.configuration(pem: pem)
            return nil
        } catch {
            return error.description
        }
    }

    package func discovery(_ target: IssuerTarget) async throws(IssuerError) -> Discovery {
        let call = call(.GET, target.issuer.text + Discovery.path)
        return try await transport.answer(to: call, by: target).value(on: 200) { bytes throws(ProtocolError) in
            try Discovery(json: bytes, expected: target.issuer)
        }
    }

    package func keys(_ target: IssuerTarget, _ discovery: Discovery) async throws(IssuerError) -> JWKSet {
        let call = call(.GET, discovery.jwksUri)
        return try await transport.answer(to: call, by: target).value(on: 200, JWKSet.init(json:))
    }

    package func enrollmentOptions(
        _ target: IssuerTarget, _ discovery: Discovery, code: EnrollmentCode
    ) async throws(IssuerError) -> EnrollmentOptionsAnswer {
        var call = call(.POST, discovery.enrollmentOptionsEndpoint)
        call.set(body: EnrollmentOptionsRequest(enrollmentCode: code).bytes)
        return try await transport.answer(to: call, by: target).value(on: 200) { bytes throws(ProtocolError) in
            try EnrollmentOptionsAnswer(bytes: bytes, from: target.issuer)
        }
    }

    package func enroll(
        _ target: IssuerTarget, _ discovery: Discovery, body: [UInt8]
    ) async throws(IssuerError) -> EnrollmentAnswer {
        var call = call(.POST, discovery.enrollmentsEndpoint)
        call.set(body: body)
        return try await transport.answer(to: call, by: target).value(on: 201, EnrollmentAnswer.init(bytes:))
    }

    /// Clamps `wait` to 0 to 60 s; the answer may take 15 s more.
    package func fetch(
        _ access: IssuerAccess, wait: Int, after cursor: String?
    ) async throws(IssuerError) -> RequestList {
        let wait = min(max(wait, 0), 60)
        let endpoint = Endpoint(access.discovery.authnRequestsEndpoint)
        var call = call(.GET, endpoint.url(query: [("wait", "\(wait)")] + (cursor.map { [("after", $0)] } ?? [])))
        call.token = access.token
        call.pool = .polls
        call.seconds = Double(wait + IssuerCall.pollMargin)
        call.maxBytes = bounds.listBytes
        let answer = try await transport.answer(to: call, by: access.target)
        return try bounds.bounded(answer.value(on: 200, RequestList.init(bytes:))).keeping(answer.room)
    }

    package func batchFetch(
        _ target: IssuerTarget, _ discovery: Discovery, request: BatchFetchRequest
    ) async throws(IssuerError) -> BatchFetchAnswer {
        guard let endpoint = discovery.batchFetchEndpoint else {
            throw .transient(reason: "the issuer has no batch fetch", retryAfter: nil)
        }
        var call = call(.POST, endpoint)
        call.set(body: request.bytes)
        call.pool = .polls
        call.seconds = Double(request.wait + IssuerCall.pollMargin)
        call.maxBytes = bounds.listBytes
        let answer = try await transport.answer(to: call, by: target)
        return try bounds.bounded(answer.value(on: 200, BatchFetchAnswer.init(bytes:))).keeping(answer.room)
    }

    /// Leaves out a `traceparent` that is not of version 00 of W3C Trace Context.
    package func decide(
        _ access: IssuerAccess, jti: TokenID, body: [UInt8], traceparent: String?
    ) async throws(IssuerError) -> TransStatus {
        let endpoint = Endpoint(access.discovery.authnRequestsEndpoint)
        var call = call(.POST, endpoint.url(path: "/\(jti.text)/decision"))
        call.token = access.token
        call.set(body: body)
        call.traceparent = traceparent.flatMap(Traceparent.init)
        return try await transport.answer(to: call, by: access.target)
            .value(on: 200, DecisionAnswer.init(bytes:)).transStatus
    }

    package func status(_ access: IssuerAccess) async throws(IssuerError) -> AuthenticatorStatus {
        var call = call(.GET, access.discovery.authenticatorEndpoint)
        call.token = access.token
        return try await transport.answer(to: call, by: access.target).value(on: 200, AuthenticatorStatus.init(bytes:))
    }

    package func unenroll(_ access: IssuerAccess) async throws(IssuerError) {
        var call = call(.DELETE, access.discovery.authenticatorEndpoint)
        call.token = access.token
        try await transport.answer(to: call, by: access.target).value(on: 204) { _ throws(ProtocolError) in }
    }

    package func subscribe(
        _ access: IssuerAccess, _ subscription: PushSubscription
    ) async throws(IssuerError) {
        var call = subscriptionCall(.PUT, access)
        call.set(body: subscription.json.serialized())
        try await transport.answer(to: call, by: access.target).value(on: 204) { _ throws(ProtocolError) in }
    }

    package func unsubscribe(_ access: IssuerAccess) async throws(IssuerError) {
        let call = subscriptionCall(.DELETE, access)
        try await transport.answer(to: call, by: access.target).value(on: 204) { _ throws(ProtocolError) in }
    }

    private func subscriptionCall(_ method: HTTPMethod, _ access: IssuerAccess) -> IssuerCall {
        var call = call(method, Endpoint(access.discovery.authenticatorEndpoint).url(path: "/push-subscription"))
        call.token = access.token
        return call
    }
}
