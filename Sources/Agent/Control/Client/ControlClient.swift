internal import FoundationEssentials
import TextAndTime

/// The client of the agent's control API: a function for each call.
package struct ControlClient: Sendable {
    private let transport: ControlTransport

    /// Finds the agent's socket and checks that it may be trusted; nothing is sent yet.
    ///
    /// - Parameter leastSeconds: no call is given less time than this, whatever it is for.
    package init(
        socketFlag: String?, environment: [String: String], leastSeconds: Int = 0
    ) throws(ClientError) {
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

    package func status() async throws(ClientError) -> StatusView {
        try await get(["status"])
    }

    /// Whether the agent can do its work, and why not.
    package func health(seconds: Int = ControlTimeout.read) async throws(ClientError) -> HealthView {
        let call = ControlCall(.get, ["health"], seconds: seconds)
        return try await transport.answer(to: call).read(as: HealthView.self, alsoAt: HealthView.statusIfNotReady)
    }

    /// What is weak, and what cannot be told.
    package func doctor() async throws(ClientError) -> [WarningView] {
        try await get(["doctor"])
    }

    package func clock() async throws(ClientError) -> ClockView { try await get(["clock"]) }

    /// Sets the agent's clock forward, if it is a test's.
    package func advanceClock(_ command: ClockCommand) async throws(ClientError) -> ClockView {
        try await send(command, by: .post, to: ["clock"], seconds: ControlTimeout.read)
    }

    /// All, page by page: there may be more than fit into an answer.
    package func enrollments() async throws(ClientError) -> [EnrollmentView] {
        var all: [EnrollmentView] = []
        var hasNext = true
        while hasNext {
            let after = all.last.map { [("after", $0.id)] } ?? []
            let call = ControlCall(
                .get, ["enrollments"], query: [("limit", String(Self.pageSize))] + after, seconds: ControlTimeout.read)
            let answer = try await transport.answer(to: call)
            let page = try answer.read(as: [EnrollmentView].self)
            all += page
            hasNext = answer.hasNext && !page.isEmpty
        }
        return all
    }

    /// Whether there are enrollments, and all of them, also those that have ended, are of authnType `test`.
    ///
    /// Looks page by page, and no further than the first other one, or 100,000.
    package func hasOnlyTests() async throws(ClientError) -> Bool {
        var last: String?
        for _ in 0..<100 {
            let after = last.map { [("after", $0)] } ?? []
            let call = ControlCall(
                .get, ["enrollments"], query: [("limit", String(Self.pageSize))] + after, seconds: ControlTimeout.read)
            let answer = try await transport.answer(to: call)
            let page = try answer.read(as: [EnrollmentView].self)
            guard page.allSatisfy({ $0.authnType == "test" }) else { return false }
            last = page.last?.id ?? last
            if !answer.hasNext || page.isEmpty { return last != nil }
        }
        return false
    }

    private static let pageSize = 1_000

    package func enroll(_ command: EnrollCommand) async throws(ClientError) -> EnrollmentView {
        try await send(command, by: .post, to: ["enrollments"], seconds: ControlTimeout.enroll)
    }

    package func unenroll(id: String, _ command: UnenrollCommand) async throws(ClientError) -> UnenrolledView {
        try await send(command, by: .delete, to: ["enrollments", id], seconds: ControlTimeout.unenroll)
    }

    package func changePIN(id: String, _ command: PINChangeCommand) async throws(ClientError) -> EnrollmentView {
        try await send(command, by: .post, to: ["enrollments", id, "pin"], seconds: ControlTimeout.pinChange)
    }

    /// The private half of an enrollment's key, sealed.
    package func sealedKey(of id: String) async throws(ClientError) -> KeyExportView {
        try await get(["enrollments", id, "key"])
    }

    package func publicKey(of id: String) async throws(ClientError) -> KeyExportView {
        try await get(["enrollments", id, "public-key"])
    }

    package func personas() async throws(ClientError) -> PersonasView { try await get(["personas"]) }

    /// What became of the requests of the last `seconds`, by persona.
    package func fleet(seconds: Int) async throws(ClientError) -> FleetView {
        try await get(["fleet"], query: [("seconds", String(seconds))], seconds: ControlTimeout.fleet)
    }

    package func setPersona(_ command: PersonaCommand, of id: String) async throws(ClientError) -> PersonaView {
        try await send(command, by: .post, to: ["enrollments", id, "persona"], seconds: ControlTimeout.read)
    }

    package func clearPersona(of id: String) async throws(ClientError) -> PersonaClearedView {
        let call = ControlCall(.delete, ["enrollments", id, "persona"], seconds: ControlTimeout.read)
        return try await transport.answer(to: call).read(as: PersonaClearedView.self)
    }

    package func reloadRules() async throws(ClientError) -> RulesView {
        let call = ControlCall(.post, ["rules", "reload"], seconds: ControlTimeout.read)
        return try await transport.answer(to: call).read(as: RulesView.self)
    }

    /// What answers a request, and why; `id` as for ``request(id:enrollment:)``.
    package func explanation(id: String, enrollment: String?) async throws(ClientError) -> ExplanationView {
        try await get(["requests", id, "explanation"], query: enrollment.map { [("enrollment", $0)] } ?? [])
    }

    /// The same of each request of one page of the list.
    package func explanations(_ listing: RequestListing) async throws(ClientError) -> [ExplanationView] {
        try await get(["explanations"], query: listing.query)
    }

    package func rotatePush(_ command: PushRotateCommand) async throws(ClientError) -> PushRotatedView {
        try await send(command, by: .post, to: ["push", "rotate"], seconds: ControlTimeout.fetch)
    }

    package func fetch(_ command: FetchCommand) async throws(ClientError) -> FetchView {
        let isOfAll = command.enrollment == nil
        return try await send(
            command, by: .post, to: ["fetch"], seconds: isOfAll ? ControlTimeout.fetchOfAll : ControlTimeout.fetch)
    }

    /// Requests, oldest first: the pending ones, or all.
    package func requests(
        all: Bool, limit: Int, enrollment: String?
    ) async throws(ClientError) -> [RequestView] {
        try await requests(RequestListing(all: all, limit: limit, enrollment: enrollment)).requests
    }

    /// One page of the list, oldest first, and whether it goes on.
    package func requests(
        _ listing: RequestListing
    ) async throws(ClientError) -> (requests: [RequestView], hasNext: Bool) {
        let call = ControlCall(.get, ["requests"], query: listing.query, seconds: ControlTimeout.read)
        let answer = try await transport.answer(to: call)
        return (try answer.read(as: [RequestView].self), answer.hasNext)
    }

    /// One request with its text.
    ///
    /// `id` is its id, its jti, its acsTransId, or a unique prefix of one.
    package func request(id: String, enrollment: String?) async throws(ClientError) -> RequestView {
        try await get(["requests", id], query: enrollment.map { [("enrollment", $0)] } ?? [])
    }

    /// What a dispute about a request needs; `id` as for ``request(id:enrollment:)``.
    package func evidence(id: String, enrollment: String?) async throws(ClientError) -> EvidenceView {
        let query = enrollment.map { [("enrollment", $0)] } ?? []
        let call = ControlCall(.get, ["requests", id, "evidence"], query: query, seconds: ControlTimeout.verify)
        return try await transport.answer(to: call).read(as: EvidenceView.self)
    }

    /// Decides one request; returns once the issuer has answered or the delivery time-out is over.
    ///
    /// The agent is told from when on it must not decide any more, so that a lost answer leaves it open for a while only.
    ///
    /// - Throws: `ClientError.unknown` if the call was sent and its answer did not come.
    package func decide(
        _ decision: Decision, on selector: RequestSelector, with command: DecideCommand
    ) async throws(ClientError) -> RequestView {
        let path = ["requests", selector.segment, decision.rawValue]
        var command = command
        let now = Int(Date().timeIntervalSince1970.rounded(.up))
        let end = now + command.secondsToDecide
        command.decideBefore = end
        do throws(ClientError) {
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
    package func backup(_ take: ([UInt8]) throws(ClientError) -> Void) async throws(ClientError) {
        var call = ControlCall(.get, ["backup"], seconds: ControlTimeout.backup)
        call.accepted = "application/vnd.sqlite3"
        var hasBegun = false
        let isWhole: Bool
        do throws(ClientError) {
            isWhole = try await transport.stream(call, silence: ControlTimeout.backup) { piece throws(ClientError) in
                hasBegun = true
                try take(piece)
            }
        } catch .unclear(let reason) where !hasBegun {
            throw .cutOff("\(reason) No backup was made; try again later.")
        }
        guard isWhole else {
            throw .cutOff(
                "The backup was cut off before its end: the agent stopped, root or the agent's own user made one instead, or "
                    + "it took too long. The agent's log says which; try again later.")
        }
    }

    /// Whether the journal is whole.
    package func verifyAudit() async throws(ClientError) -> AuditView {
        let call = ControlCall(.get, ["audit", "verify"], seconds: ControlTimeout.verify)
        return try await transport.answer(to: call).read(as: AuditView.self)
    }

    package func auditKey() async throws(ClientError) -> AuditKeyView { try await get(["audit", "key"]) }

    /// Whose chains of the journal there are.
    package func auditHosts() async throws(ClientError) -> AuditHostsView { try await get(["audit", "hosts"]) }

    /// Entries of one chain of the journal, one line of JSON each, in their order.
    ///
    /// - Parameter host: whose chain; nil stands for the host that is asked.
    package func auditEntries(
        after place: CursorText, of host: String? = nil, limit: Int
    ) async throws(ClientError) -> [[UInt8]] {
        let ofHost = host.map { [("host", $0)] } ?? []
        var call = ControlCall(
            .get, ["audit"], query: [("after", place.text), ("limit", String(limit))] + ofHost,
            seconds: ControlTimeout.read)
        call.accepted = ControlAnswer.jsonLines
        return try await transport.answer(to: call).lines()
    }

    /// Lets `take` have each event after `position` as it comes, until the agent goes away.
    ///
    /// - Parameter position: nil stands for what has not happened yet; it moves on with what was told, so that the next
    ///   call misses nothing.
    /// - Parameter opened: called once the agent has begun to answer: nothing that happens from then on is missed.
    /// - Throws: if the agent did not begin to answer, and what `take` throws.
    package func events(
        after position: inout CursorText?, enrollment: String?, opened: () -> Void = {},
        _ take: (EventView) throws(ClientError) -> Void
    ) async throws(ClientError) {
        var call = ControlCall(
            .get, ["events"], query: enrollment.map { [("enrollment", $0)] } ?? [], seconds: ControlTimeout.events)
        call.accepted = ServerSentEvents.contentType
        call.lastEventID = position
        var reader = EventReader(position: position)
        let silence = 4 * ServerSentEvents.heartbeat
        try await transport.stream(call, silence: silence, opened: opened) { piece throws(ClientError) in
            // Byte by byte: what stands before an event that cannot be read is told first.
            for byte in piece {
                for event in try reader.take(CollectionOfOne(byte)) {
                    try take(event)
                    position = reader.position
                }
            }
            position = reader.position
        }
    }

    private func get<Answer: Decodable>(
        _ path: [String], query: [(String, String)] = [], seconds: Int = ControlTimeout.read
    ) async throws(ClientError) -> Answer {
        let call = ControlCall(.get, path, query: query, seconds: seconds)
        return try await transport.answer(to: call).read(as: Answer.self)
    }

    private func send<Answer: Decodable>(
        _ command: some ControlCommand, by method: ControlCall.Method, to path: [String], seconds: Int
    ) async throws(ClientError) -> Answer {
        let body: [UInt8]
        do throws(ControlError) { body = try ControlJSON.encode(command) } catch { throw .refused(error) }
        let call = ControlCall(method, path, body: body, seconds: seconds)
        return try await transport.answer(to: call).read(as: Answer.self)
    }
}
