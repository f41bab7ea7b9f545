internal import FoundationEssentials
import TextAndTime

/// The client of the agent's control API: a function for each call.
package struct ControlClient: Sendable {
    private let transport: ControlTransport

    /// Finds the agent's socket and checks that it is trusted, without sending anything.
    ///
    /// - Parameter leastSeconds: the minimum time limit of every call.
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
        try SocketTrust.expectTrusted(path, environment: environment)
        self.transport = ControlTransport(
            socketPath: path, environment: environment, leastSeconds: leastSeconds)
    }

    package func status() async throws(ClientError) -> StatusView {
        try await get(["status"])
    }

    /// Returns whether the agent can do its work, and the reasons if it cannot.
    package func health(seconds: Int = ControlTimeout.read) async throws(ClientError) -> HealthView {
        let call = ControlCall(.get, ["health"], seconds: seconds)
        return try await transport.answer(to: call).read(as: HealthView.self, alsoAt: HealthView.statusIfNotReady)
    }

    /// Returns the weaknesses of the setup, and the checks that gave no result.
    package func doctor() async throws(ClientError) -> [WarningView] {
        try await get(["doctor"])
    }

    package func clock() async throws(ClientError) -> ClockView { try await get(["clock"]) }

    /// Sets the agent's clock forward, if it is a test clock.
    package func advanceClock(_ command: ClockCommand) async throws(ClientError) -> ClockView {
        try await send(command, by: .post, to: ["clock"], seconds: ControlTimeout.read)
    }

    /// Returns all enrollments, read page by page because they may not fit into one answer.
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

    /// Returns whether enrollments exist and all of them, ended ones included, are of authnType `test`.
    ///
    /// Reads page by page. Stops at the first enrollment of another type, or after 100,000 enrollments.
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

    /// Returns the private half of an enrollment's key, sealed.
    package func sealedKey(of id: String) async throws(ClientError) -> KeyExportView {
        try await get(["enrollments", id, "key"])
    }

    package func publicKey(of id: String) async throws(ClientError) -> KeyExportView {
        try await get(["enrollments", id, "public-key"])
    }

    package func personas() async throws(ClientError) -> PersonasView { try await get(["personas"]) }

    /// Returns the outcomes of the requests of the last `seconds`, by persona.
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

    /// Returns which persona answers a request, if any, and why.
    ///
    /// `id` is the same as for ``request(id:enrollment:)``.
    package func explanation(id: String, enrollment: String?) async throws(ClientError) -> ExplanationView {
        try await get(["requests", id, "explanation"], query: enrollment.map { [("enrollment", $0)] } ?? [])
    }

    /// Returns the explanation of each request on one page of the list.
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

    /// Returns requests, oldest first: the pending ones, or all.
    package func requests(
        all: Bool, limit: Int, enrollment: String?
    ) async throws(ClientError) -> [RequestView] {
        try await requests(RequestListing(all: all, limit: limit, enrollment: enrollment)).requests
    }

    /// Returns one page of the list, oldest first, and whether a next page exists.
    package func requests(
        _ listing: RequestListing
    ) async throws(ClientError) -> (requests: [RequestView], hasNext: Bool) {
        let call = ControlCall(.get, ["requests"], query: listing.query, seconds: ControlTimeout.read)
        let answer = try await transport.answer(to: call)
        return (try answer.read(as: [RequestView].self), answer.hasNext)
    }

    /// Returns one request with its text.
    ///
    /// `id` is the request's id, its jti, its acsTransId, or a unique prefix of one of them.
    package func request(id: String, enrollment: String?) async throws(ClientError) -> RequestView {
        try await get(["requests", id], query: enrollment.map { [("enrollment", $0)] } ?? [])
    }

    /// Returns the evidence of one request, for a dispute.
    ///
    /// `id` is the same as for ``request(id:enrollment:)``.
    package func evidence(id: String, enrollment: String?) async throws(ClientError) -> EvidenceView {
        let query = enrollment.map { [("enrollment", $0)] } ?? []
        let call = ControlCall(.get, ["requests", id, "evidence"], query: query, seconds: ControlTimeout.verify)
        return try await transport.answer(to: call).read(as: EvidenceView.self)
    }

    /// Decides one request, and returns when the issuer has answered or the delivery timeout has passed.
    ///
    /// The call sends the time from which the agent must not decide any more. So a lost answer leaves the outcome open
    /// only for a while.
    ///
    /// - Throws: `ClientError.unknown` if the call was sent and no answer arrived.
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

    /// Passes the bytes of a backup to `take` as they arrive.
    ///
    /// - Throws: if the backup did not arrive completely. The bytes that `take` received are then useless.
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

    /// Has the agent verify the journal, and returns the result.
    package func verifyAudit() async throws(ClientError) -> AuditView {
        let call = ControlCall(.get, ["audit", "verify"], seconds: ControlTimeout.verify)
        return try await transport.answer(to: call).read(as: AuditView.self)
    }

    package func auditKey() async throws(ClientError) -> AuditKeyView { try await get(["audit", "key"]) }

    /// Returns the hosts whose chains the journal has.
    package func auditHosts() async throws(ClientError) -> AuditHostsView { try await get(["audit", "hosts"]) }

    /// Returns entries of one chain of the journal in order, each as one line of JSON.
    ///
    /// - Parameter host: the host of the chain. `nil` means the host that answers.
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

    /// Passes each event after `position` to `take` as it arrives, until the agent goes away.
    ///
    /// - Parameter position: the position to start from. `nil` means that only new events are read. It advances with
    ///   each event that `take` receives, so that the next call misses no event.
    /// - Parameter opened: called when the agent has begun to answer. No event after this moment is missed.
    /// - Throws: if the agent did not begin to answer, and any error from `take`.
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
            // Byte by byte, so that `take` receives all events before an event that cannot be read.
            for byte in piece {
                for event in try reader.read(CollectionOfOne(byte)) {
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
