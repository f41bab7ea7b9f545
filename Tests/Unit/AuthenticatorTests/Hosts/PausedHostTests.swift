#if PostgreSQL
import IssuerProtocol
import ScratchDirectories
import StoreTables
import TestStores
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// A host that was paused does all of its work when it goes on, however much the others have written meanwhile.
@Suite(.timeLimit(.minutes(20)))
struct PausedHostTests {
    private let alpha: SampleAgent
    private let beta: SampleAgent
    /// Whether beta is told nothing of the journals.
    private let isDeaf = Box(false)

    init() throws {
        alpha = try StoreKind.$current.withValue(.postgres) { try SampleAgent() }
        let hub = EventHub { [isDeaf] event in isDeaf.value && event.kindForReaders != nil }
        beta = try StoreKind.$current.withValue(.postgres) { [alpha] in try alpha.neighbour("beta", hub: hub) }
    }

    /// Alpha decides, and writes so many entries after it.
    private func write(entries: Int, deciding card: SampleEnrollment) async throws {
        try await alpha.receive(SampleRequest(), for: card)
        try await alpha.approve(try await alpha.onlyRequest().id)
        let now = alpha.now
        try await alpha.agent.ports.store.write { store in
            for _ in 0..<entries { try store.record(.stopped, at: now) }
        }
    }

    private func tamper(_ sql: String) throws {
        try StoreKind.$current.withValue(.postgres) {
            try TestStores.tamper(at: "\(alpha.directory.path)/store.sqlite", sql)
        }
    }

    /// Runs the body while beta works and is paused, and lets beta go on after it.
    private func pausing(
        _ services: [@Sendable () async throws -> Void] = [], _ body: () async throws -> Void,
        until done: () async throws -> Void
    ) async throws {
        let neighbours = beta.agent.neighbours
        try await beta.running(services + [neighbours.run]) {
            while try await beta.clock.naps.next() != Neighbours.pause {}
            try await body()
            beta.clock.advance(by: Neighbours.pause)
            try await done()
        }
    }

    @Test func `entries that came during the pause are told one by one`() async throws {
        let card = try await alpha.enrolled()
        let told = Box<[AgentEvent]>([])
        let notifier = beta.agent.hub.notifier { event in
            told.change { $0.append(event) }
            return false
        }
        try await pausing([beta.agent.outboxDelivery.run]) {
            try await write(entries: 2_000, deciding: card)
        } until: {
            _ = try await alpha.issuer.decided.next()
            while try await beta.clock.naps.next() != Neighbours.pause {}
        }
        withExtendedLifetime(notifier) {
            #expect(!told.value.contains { $0.isGap })
            #expect(told.value.filter { $0.kind == .stopped }.count == 2_000)
        }
        let head = try await alpha.store.real.read { try $0.journalMark(.head)?.point.sequence }
        #expect(beta.agent.neighbours.told.heads["alpha"] == head)
    }

    @Test(arguments: [true, false])
    func `entries that are gone, or too many, are a gap, and whoever waits looks`(areGone: Bool) async throws {
        let card = try await alpha.enrolled()
        let isGap = beta.agent.hub.notifier(for: \.isGap)
        let notifier = beta.agent.journal.notifier { true }
        var neighbours = beta.agent.neighbours
        if !areGone { neighbours.most = 1_000 }
        try await beta.running([neighbours.run]) {
            while try await beta.clock.naps.next() != Neighbours.pause {}
            try await write(entries: 2_000, deciding: card)
            if areGone { try tamper("DELETE FROM journal WHERE host = 'alpha' AND seq <= 1800") }
            beta.clock.advance(by: Neighbours.pause)
            for await _ in isGap { break }
            for await _ in notifier { break }
        }
        let head = try await alpha.store.real.read { try $0.journalMark(.head)?.point.sequence }
        #expect(beta.agent.neighbours.told.heads["alpha"] == head)
    }

    @Test func `a decision is delivered and an enrollment fetched though no entry was told`() async throws {
        let card = try await alpha.enrolled("first")
        try await pausing([beta.agent.outboxDelivery.run, beta.agent.fetcher.run]) {
            while try await beta.issuer.fetched.next().token != card.token {}
            isDeaf.set(true)
            _ = try await alpha.enrolled("second")
            try await write(entries: 2_000, deciding: card)
        } until: {
            try await beta.running([beta.agent.periodicLook.run, looks]) {
                _ = try await beta.issuer.decided.next()
                while try await beta.issuer.fetched.next().token == card.token {}
                while try await !beta.outbox(of: card).isEmpty { await Task.yield() }
            }
        }
    }

    @Sendable private func looks() async throws {
        for _ in 1...6 {
            while try await beta.clock.naps.next() != AgentSettings.lookPause {}
            beta.clock.advance(by: AgentSettings.lookPause)
        }
    }
}
#endif
