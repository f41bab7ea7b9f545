import Authenticator
package import Control
import FoundationEssentials
import HummingbirdCore
package import Journal
import Keys
import NIOCore
import Records
import ServiceLifecycle

extension ControlCalls {
    /// The bytes of the entries, each on a line.
    func auditEntries(_ query: AuditQuery) async throws -> Answer {
        let rows = try await agent.journal.entries(
            after: query.after, of: query.host, limit: query.limit)
        return Answer(contentType: "application/x-ndjson", body: rows.flatMap { $0.bytes + [UInt8(ascii: "\n")] })
    }

    func auditKey() async throws -> Answer { try .json(AuditKeyView(publicKey: try await publicKey())) }

    func auditHosts() async throws -> Answer {
        let hosts = try await agent.journal.namedChains().map { AuditChainView(host: $0.host, publicKey: $0.key?.pem) }
        return try .json(AuditHostsView(hosts: hosts))
    }

    /// Reads the whole journal, so it stops if the client hangs up.
    func verifyAudit(for client: ControlConnection) async throws -> Answer {
        let verdict = try await long(for: client) { try await agent.journal.verify() }
        return try .json(AuditView(verdict, publicKey: try await publicKey()))
    }

    private func publicKey() async throws -> String {
        guard let pem = try await agent.journal.publicKeyPEM() else {
            throw ControlError(.failed, "the journal has no key")
        }
        return pem
    }

    func events(_ query: EventQuery, for client: ControlConnection) async throws -> Answer {
        let enrollment = try await id(of: query.enrollment)
        let start =
            if let since = query.since { try await agent.journal.place(since) } else {
                try await agent.journal.newestOfAll()
            }
        let stream = EventStream(calls: self, client: client, enrollment: enrollment)
        return Answer(contentType: ServerSentEvents.contentType) { try await stream.write(from: start, to: &$0) }
    }

    /// Sends events to the readers that follow, until it is cancelled.
    func sendEvents() async { await eventReaders.serve(eventNotifier) }
}

/// Live events for one client: one page at a time is in memory, and a client that does not read is cut.
private struct EventStream: Sendable {
    let calls: ControlCalls
    let client: ControlConnection
    /// The enrollment whose events are sent, or `nil` for all.
    let enrollment: EnrollmentID?

    /// Runs until the client hangs up, or the agent stops.
    ///
    /// Then it cuts the connection, so that the client notices.
    func write(from start: EventCursor, to writer: inout any ResponseBodyWriter) async throws {
        let reader = EventReader(client, of: enrollment)
        try await send(ServerSentEvents.position(start.text), to: &writer)
        try await withGracefulShutdownHandler {
            try await client.telling(reader.finish) { try await write(all: reader, from: start, to: &writer) }
        } onGracefulShutdown: {
            reader.finish()
        }
    }

    private func write(
        all reader: EventReader, from start: EventCursor, to writer: inout any ResponseBodyWriter
    ) async throws {
        var position = start
        while !Task.isCancelled {
            let page = try await calls.responses.short(of: client.peer) { [position] in
                try await calls.agent.encodedEvents(after: position)
            }
            if page.position != position {
                try await send(page.bytes(for: enrollment) ?? page.place, to: &writer)
                position = page.position
                continue
            }
            let place = try await calls.eventReaders.follow(reader, from: position, ringing: calls.eventNotifier.wake) {
                calls.agent.journal.alarm(after: Double(ServerSentEvents.heartbeat), $0)
            }
            position = place.position
            guard !place.isBehind else { continue }
            // Events of other enrollments move the position. Send it at times, so that a client that reconnects need
            // not read them again.
            let line = place.isKnown ? ServerSentEvents.stillThere : ServerSentEvents.position(position.text)
            try await send(line, to: &writer)
        }
    }

    private func send(_ bytes: [UInt8], to writer: inout any ResponseBodyWriter) async throws {
        try await send(ByteBuffer(bytes: bytes), to: &writer)
    }

    private func send(_ bytes: ByteBuffer, to writer: inout any ResponseBodyWriter) async throws {
        client.waitForClient(unread: bytes.readableBytes)
        try await writer.write(bytes)
        client.work()
    }
}

extension AuditView {
    /// - Parameter publicKey: the audit key of the host that answers, in PEM.
    package init(_ verdict: JournalVerdict, publicKey: String) {
        self.init(
            whole: verdict.fault == nil, entries: verdict.count,
            head: verdict.head.flatMap { AuditMarkView($0, .head) },
            floor: verdict.floor.flatMap { AuditMarkView($0, .floor) }, publicKey: publicKey,
            fault: verdict.fault.map(AuditFaultView.init),
            hosts: verdict.chains.count > 1 ? verdict.chains.map(AuditHostView.init) : nil)
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

extension AuditFaultView {
    init(_ fault: JournalError) {
        self.init(host: fault.host, seq: fault.sequence, message: "The journal: \(fault).")
    }
}

extension AuditHostView {
    fileprivate init(_ verdict: ChainVerdict) {
        self.init(host: verdict.host, whole: verdict.fault == nil, entries: verdict.count)
        head = verdict.head.flatMap { AuditMarkView($0, .head) }
        floor = verdict.floor.flatMap { AuditMarkView($0, .floor) }
        publicKey = verdict.key?.pem
        fault = verdict.fault.map(AuditFaultView.init)
    }
}
