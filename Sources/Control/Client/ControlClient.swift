internal import FoundationEssentials
internal import ThreeDS

/// The client of the agent's control API: a function for each call.
package struct ControlClient: Sendable {
    private let transport: ControlTransport

    /// Finds the agent's socket and checks that it may be trusted; nothing is sent yet.
    ///
    /// - Parameter leastSeconds: no call is given less time than this, whatever it is for.
    package init(
        socketFlag: String?, environment: [String: String], leastSeconds: Int = 0
    ) throws(ClientFailure) {
        let found: String?
        do throws(ControlError) {
            found = try ControlSocket.path(flag: socketFlag, environment: environment)
        } catch {
            throw .refused(error)
        }
        guard let path = found else {
            throw .nobodyListens(at: ControlSocket.candidates(flag: socketFlag, environment: environment))
        }
        try SocketTrust.check(path, environment: environment)
        self.transport = ControlTransport(
            socketPath: path, environment: environment, leastSeconds: leastSeconds)
    }

    package func status() async throws(ClientFailure) -> StatusView {
        try await get(["status"])
    }

    /// Whether the agent can do its work, and why not.
    package func health(seconds: Int = ControlTimeout.read) async throws(ClientFailure) -> HealthView {
        let call = ControlCall(.get, ["health"], seconds: seconds)
        return try await transport.answer(to: call).read(as: HealthView.self, alsoAt: HealthView.statusIfNotReady)
    }

    /// What is weak, and what cannot be told.
    package func doctor() async throws(ClientFailure) -> [WarningView] {
        try await get(["doctor"])
    }

    package func enrollments() async throws(ClientFailure) -> [EnrollmentView] {
        try await get(["enrollments"])
    }

    package func enroll(_ command: EnrollCommand) async throws(ClientFailure) -> EnrollmentView {
        try await send(command, by: .post, to: ["enrollments"], seconds: ControlTimeout.enroll)
    }

    package func unenroll(id: String, _ command: UnenrollCommand) async throws(ClientFailure) -> UnenrolledView {
        try await send(command, by: .delete, to: ["enrollments", id], seconds: ControlTimeout.unenroll)
    }

    package func changePIN(id: String, _ command: PINChangeCommand) async throws(ClientFailure) -> EnrollmentView {
        try await send(command, by: .post, to: ["enrollments", id, "pin"], seconds: ControlTimeout.pinChange)
    }

    package func rotatePush(_ command: PushRotateCommand) async throws(ClientFailure) -> PushRotatedView {
        try await send(command, by: .post, to: ["push", "rotate"], seconds: ControlTimeout.fetch)
    }

    package func fetch(_ command: FetchCommand) async throws(ClientFailure) -> FetchView {
        try await send(command, by: .post, to: ["fetch"], seconds: ControlTimeout.fetch)
    }

    /// Requests, oldest first: the pending ones, or all.
    package func requests(
        all: Bool, limit: Int, enrollment: String?
    ) async throws(ClientFailure) -> [RequestView] {
        try await requests(RequestListing(all: all, limit: limit, enrollment: enrollment)).requests
    }

    /// One page of the list, oldest first, and whether it goes on.
    package func requests(
        _ listing: RequestListing
    ) async throws(ClientFailure) -> (requests: [RequestView], hasNext: Bool) {
        let call = ControlCall(.get, ["requests"], query: listing.query, seconds: ControlTimeout.read)
        let answer = try await transport.answer(to: call)
        return (try answer.read(as: [RequestView].self), answer.hasNext)
    }

    /// One request with its text.
    ///
    /// `id` is its id, its jti, its acsTransId, or a unique prefix of one.
    package func request(id: String, enrollment: String?) async throws(ClientFailure) -> RequestView {
        try await get(["requests", id], query: enrollment.map { [("enrollment", $0)] } ?? [])
    }

    /// What a dispute about a request needs; `id` as for ``request(id:enrollment:)``.
    package func evidence(id: String, enrollment: String?) async throws(ClientFailure) -> EvidenceView {
        let query = enrollment.map { [("enrollment", $0)] } ?? []
        let call = ControlCall(.get, ["requests", id, "evidence"], query: query, seconds: ControlTimeout.verify)
        return try await transport.answer(to: call).read(as: EvidenceView.self)
    }

    /// Decides one request; returns once the issuer has answered or the delivery time-out is over.
    ///
    /// The agent is told from when on it must not decide any more, so that a lost answer leaves it open for a while only.
    ///
    /// - Throws: `ClientFailure.unknown` if the call was sent and its answer did not come.
    package func decide(
        _ decision: Decision, on selector: RequestSelector, with command: DecideCommand
    ) async throws(ClientFailure) -> RequestView {
        let path = ["requests", selector.segment, decision.rawValue]
        var command = command
        let now = Int(Date().timeIntervalSince1970.rounded(.up))
        let end = now + command.secondsToDecide
        command.decideBefore = end
        do throws(ClientFailure) {
            return try await send(command, by: .post, to: path, seconds: ControlTimeout.decide(command))
        } catch .unclear(let reason) {
            throw .unknown(Self.unknown(reason, of: decision, on: selector, until: end))
        }
    }

    private static func unknown(
        _ reason: String, of decision: Decision, on selector: RequestSelector, until end: Int
    ) -> String {
        let done = decision == .approve ? "approved" : "denied"
        let look = selector.id.map { "oobctl show \($0)" } ?? "oobctl list --all"
        return "\(reason) It is not known whether it was \(done). Nothing is decided after "
            + "\(UTCTime.text(Int64(end))); then `\(look)` knows."
    }

    /// Lets `take` have the bytes of a backup as they come.
    ///
    /// - Throws: unless all of it came; then what `take` was given is of no use.
    package func backup(_ take: ([UInt8]) throws(ClientFailure) -> Void) async throws(ClientFailure) {
        var call = ControlCall(.get, ["backup"], seconds: ControlTimeout.backup)
        call.accepted = "application/x-tar"
        guard try await transport.stream(call, silence: ControlTimeout.backup, take) else {
            throw .unclear("The backup was cut off before its end: see the agent's log, and try again.")
        }
    }

    /// Whether the journal is whole.
    package func verifyAudit() async throws(ClientFailure) -> AuditView {
        let call = ControlCall(.get, ["audit", "verify"], seconds: ControlTimeout.verify)
        return try await transport.answer(to: call).read(as: AuditView.self)
    }

    package func auditKey() async throws(ClientFailure) -> AuditKeyView { try await get(["audit", "key"]) }

    /// Entries of the journal, one line of JSON each, in their order.
    package func auditEntries(after seq: Int64, limit: Int) async throws(ClientFailure) -> [[UInt8]] {
        var call = ControlCall(
            .get, ["audit"], query: [("after", String(seq)), ("limit", String(limit))], seconds: ControlTimeout.read)
        call.accepted = ControlAnswer.jsonLines
        return try await transport.answer(to: call).lines()
    }

    /// Lets `take` have each event after `position` as it comes, until the agent goes away.
    ///
    /// - Parameter position: nil stands for the newest event; it moves on with what was told, so that the next call
    ///   misses nothing.
    /// - Parameter opened: called once the agent has begun to answer: nothing that happens from then on is missed.
    /// - Throws: if the agent did not begin to answer, and what `take` throws.
    package func events(
        after position: inout Int64?, enrollment: String?, opened: () -> Void = {},
        _ take: (EventView) throws(ClientFailure) -> Void
    ) async throws(ClientFailure) {
        var call = ControlCall(
            .get, ["events"], query: enrollment.map { [("enrollment", $0)] } ?? [], seconds: ControlTimeout.events)
        call.accepted = ServerSentEvents.contentType
        call.lastEventID = position
        var reader = EventReader(position: position)
        let silence = 4 * ServerSentEvents.heartbeat
        try await transport.stream(call, silence: silence, opened: opened) { piece throws(ClientFailure) in
            // Byte by byte: what stands before an event that cannot be read is told first.
            for byte in piece {
                for event in try reader.take(CollectionOfOne(byte)) {
                    try take(event)
                    position = event.seq
                }
            }
            position = reader.position
        }
    }

    private func get<Answer: Decodable>(
        _ path: [String], query: [(String, String)] = []
    ) async throws(ClientFailure) -> Answer {
        let call = ControlCall(.get, path, query: query, seconds: ControlTimeout.read)
        return try await transport.answer(to: call).read(as: Answer.self)
    }

    private func send<Answer: Decodable>(
        _ command: some ControlCommand, by method: ControlCall.Method, to path: [String], seconds: Int
    ) async throws(ClientFailure) -> Answer {
        let body: [UInt8]
        do throws(ControlError) { body = try ControlJSON.encode(command) } catch { throw .refused(error) }
        let call = ControlCall(method, path, body: body, seconds: seconds)
        return try await transport.answer(to: call).read(as: Answer.self)
    }
}
