import Authenticator
import Control
import FoundationEssentials
import HummingbirdCore
import NIOCore
import ServiceLifecycle

extension ControlCalls {
    /// The entries' own bytes, a line each.
    func auditEntries(_ query: AuditQuery) async throws -> Answer {
        let rows = try await agent.journal.entries(after: query.after, limit: query.limit)
        return Answer(contentType: "application/x-ndjson", body: rows.flatMap { $0.bytes + [UInt8(ascii: "\n")] })
    }

    func auditKey() async throws -> Answer { try .json(AuditKeyView(publicKey: try await publicKey())) }

    /// Goes on only while the client is there: it reads the whole journal.
    func verifyAudit(for client: ControlConnection) async throws -> Answer {
        let verdict = try await long(for: client) { try await agent.journal.verify() }
        return try .json(
            AuditView(
                whole: verdict.fault == nil, entries: verdict.count,
                head: verdict.head.flatMap { AuditMarkView($0, .head) },
                floor: verdict.floor.flatMap { AuditMarkView($0, .floor) }, publicKey: try await publicKey(),
                fault: verdict.fault.map { AuditFaultView(seq: $0.sequence, message: "The journal: \($0).") }))
    }

    private func publicKey() async throws -> String {
        guard let pem = try await agent.journal.publicKeyPEM() else {
            throw ControlError(.failed, "the journal has no key")
        }
        return pem
    }

    func events(_ query: EventQuery, for client: ControlConnection) async throws -> Answer {
        let enrollment = try await id(of: query.enrollment)
        let newest = try await agent.journal.newest()
        let stream = EventStream(agent: agent, client: client, enrollment: enrollment, responses: responses)
        let start = query.since ?? newest
        return Answer(contentType: ServerSentEvents.contentType) { try await stream.write(from: start, to: &$0) }
    }
}

/// Events as they happen, to one client: a page at a time is in memory, and a client that does not read is cut.
private struct EventStream: Sendable {
    let agent: Agent
    let client: ControlConnection
    /// Nil for all.
    let enrollment: EnrollmentID?
    /// Readers of one user look one after the other, however many there are.
    let responses: ResponseQueue

    func write(from start: Int64, to writer: inout any ResponseBodyWriter) async throws {
        var position = start
        try await send(ServerSentEvents.position(position), to: &writer)
        while !Task.isShuttingDownGracefully {
            guard let page = try await next(after: position) else {
                try await send(ServerSentEvents.stillThere, to: &writer)
                continue
            }
            let wanted = page.events.filter { enrollment == nil || $0.enrollment == nil || $0.enrollment == enrollment }
            for start in stride(from: 0, to: wanted.count, by: Self.batch) {
                let events = wanted[start...].prefix(Self.batch)
                let bytes = try await responses.short(of: client.peer) { try await text(of: events) }
                try await send(bytes, to: &writer)
            }
            if wanted.last?.sequence != page.position {
                try await send(ServerSentEvents.position(page.position), to: &writer)
            }
            position = page.position
        }
    }

    /// Nil if nothing happens for a while.
    private func next(after position: Int64) async throws -> EventPage? {
        try await cancelWhenGracefulShutdown {
            try await client.whileThere {
                try await agent.journal.events(after: position, waiting: Double(ServerSentEvents.heartbeat)) { look in
                    try await responses.short(of: client.peer, look)
                }
            }
        }
    }

    /// The events that are looked up and written at once.
    private static let batch = 32

    private func text(of events: ArraySlice<JournalEvent>) async throws -> [UInt8] {
        let records = try await agent.requests(Set(events.compactMap(\.request)))
        let enrollments = try await agent.enrollments(of: Array(records.values))
        let views = records.mapValues { RequestView($0, enrollment: enrollments[$0.enrollmentId]) }
        return try events.flatMap { event in
            let view = EventView(
                event: event.name.rawValue, seq: event.sequence, at: event.at, enrollmentId: event.enrollment?.text,
                request: event.request.flatMap { views[$0] })
            return ServerSentEvents.event(event.sequence, try ControlJSON.encode(view))
        }
    }

    private func send(_ bytes: [UInt8], to writer: inout any ResponseBodyWriter) async throws {
        client.waitForClient(unread: bytes.count)
        try await writer.write(ByteBuffer(bytes: bytes))
        client.work()
    }
}

extension AuditMarkView {
    fileprivate init?(_ mark: JournalMark, _ name: JournalMark.Name) {
        guard let signature = mark.signature else { return nil }
        self.init(
            seq: mark.point.sequence, digest: mark.point.hexadecimal, statement: mark.point.statement(name),
            signature: Data(signature).base64EncodedString())
    }
}
