#if PostgreSQL
import Dispatch
import IssuerProtocol
import Keys
import ScratchDirectories
import StoreTables
import TableRows
import TestStores
import Testing

@testable import Authenticator
@testable import Journal
@testable import Records

/// Two hosts on one PostgreSQL: what one does the other knows, and nothing is done twice.
@Suite(.timeLimit(.minutes(20)))
struct TwoHostsTests {
    private let alpha: SampleAgent
    private let beta: SampleAgent

    init() throws {
        (alpha, beta) = try SampleAgent.twoHosts()
    }

    /// Runs a piece of work of each host's at the same time; nil where it failed with the code.
    private func both<Value: Sendable>(
        _ work: @escaping @Sendable (SampleAgent) async throws -> Value
    ) async -> [Result<Value, any Error>] {
        await withTaskGroup(of: Result<Value, any Error>.self) { group in
            for host in [alpha, beta] {
                group.addTask {
                    do { return .success(try await work(host)) } catch { return .failure(error) }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    private func tamper(_ sql: String, _ values: StatementValues = []) throws {
        try StoreKind.$current.withValue(.postgres) { try alpha.tamper(sql, values) }
    }

    @Test func `what one presents the other lists and decides, each in a chain of its own`() async throws {
        let card = try await alpha.enrolled()
        try await alpha.receive(SampleRequest(), for: card)
        let request = try await beta.onlyRequest()
        #expect(try await beta.approve(request.id).life.state == .approved)
        #expect(try await alpha.request(request.id).life == RequestLife(state: .approved, delivery: .queued))
        #expect(try await failureCode { try await alpha.decide(.deny(.userDenied), request.id) } == .noLongerDecidable)
        #expect(try await alpha.journal().contains { $0.kind == .presented })
        #expect(try await !alpha.journal().contains { $0.kind == .decided })
        #expect(try await beta.journal().contains { $0.kind == .decided })
        for host in [alpha, beta] { #expect(try await host.agent.journal.verify().fault == nil) }
    }

    @Test func `both decide the same requests at once: each is decided once, and no signCount repeats`() async throws {
        let card = try await alpha.enrolled()
        let numbers = Array(1...12)
        try await alpha.receive(messages: numbers.map { try alpha.message(.numbered($0), for: card) }, for: card)
        let ids = try await beta.requests().map(\.id)
        #expect(ids.count == numbers.count)
        for id in ids {
            let results = await both { try await $0.approve(id) }
            let decided = results.filter { if case .success = $0 { true } else { false } }
            #expect(decided.count == 1, "\(results)")
        }
        let outbox = try await alpha.outbox(of: card)
        let counts = outbox.compactMap(\.signCount)
        #expect(outbox.count == ids.count && Set(counts).count == ids.count)
        #expect(try await Int64(alpha.enrollment(card.id).signCount) == Int64(counts.max() ?? 0))
        // Neither chain has all signCounts, and both are whole.
        for host in [alpha, beta] { #expect(try await host.agent.journal.verify().fault == nil) }
    }

    @Test func `a write that has to wait for another host's does not hold up those that came with it`() async throws {
        let cards = [try await alpha.enrolled(), try await alpha.enrolled()]
        let (held, free) = (cards[0].id, cards[1].id)
        let (isHeld, release) = (AsyncStream.makeStream(of: Void.self), DispatchSemaphore(value: 0))
        async let other: Void = beta.store.write { writer in
            _ = try writer.enrollment(held)
            isHeld.continuation.finish()
            release.wait()
        }
        for await _ in isHeld.stream {}
        let store = alpha.agent.journal.store
        let (begun, arrived) = (Box(0), store.writes.arrivedCount)
        // The two come while another write is under way, so one database transaction has both.
        alpha.store.beforeWriting {
            guard begun.next() == 1 else { return }
            while store.writes.arrivedCount < arrived + 3 { await Task.yield() }
        }
        async let first: Void = store.write { _ in }
        while begun.value == 0 { await Task.yield() }
        async let waiting = store.write { try $0.enrollment(held)?.id }
        async let passing = store.write { try $0.enrollment(free)?.id }
        // Before the other host lets go.
        #expect(try await passing == free)
        release.signal()
        #expect(try await waiting == held)
        _ = try await (first, other)
    }

    @Test func `a row that a part has held which was undone is held anew for what comes after it`() async throws {
        let id = try await alpha.enrolled().id
        @Sendable func isFree() -> Bool {
            (try? tamper("SELECT 1 FROM enrollment WHERE id = ? FOR UPDATE NOWAIT", [id.text])) != nil
        }
        let isHeld = try await alpha.store.real.write { store in
            _ = try store.undoing {
                _ = try store.enrollment(id)
                throw SampleError("undone")
            }
            _ = try store.enrollment(id)
            return !isFree()
        }
        #expect(isHeld && isFree())
    }

    @Test func `the same message reaches both at once, and is presented once`() async throws {
        let card = try await alpha.enrolled()
        for number in 1...12 {
            let message = try alpha.message(.numbered(number), for: card)
            for result in await both({ try await $0.receive(messages: [message], for: card) }) { try result.get() }
        }
        #expect(try await alpha.requests().count == 12)
        let presented = try await (alpha.journal() + beta.journal()).filter { $0.kind == .presented }
        #expect(presented.count == 12)
    }

    @Test func `wrong PINs count for all hosts together: five, and not five on each`() async throws {
        let (card, request) = try await alpha.enrolledWithPIN()
        for _ in 1...4 { _ = await both { try await $0.refusal(of: request, pin: .wrong) } }
        let tried = try await (alpha.journal() + beta.journal()).filter { $0.kind == .notVerified }
        #expect(tried.count == 5)
        for host in [alpha, beta] { #expect(try await host.refusal(of: request, pin: .right)?.code == .blocked) }
        #expect(try await alpha.tries(of: card).failures == 5)
    }

    @Test func `a request that one host finds expired while the other decides it has one end`() async throws {
        let card = try await alpha.enrolled()
        for number in 1...12 {
            try await alpha.receive(.numbered(number), for: card)
            let id = try #require(try await alpha.requests().last?.id)
            let exp = try #require(try await alpha.request(id).exp)
            async let decided: Void = { _ = try? await beta.approve(id) }()
            alpha.clock.advance(by: Double(exp - alpha.now))
            try await alpha.agent.expiryService.work()
            await decided
            let ends = try await (alpha.journal() + beta.journal())
                .filter { $0.request == id && ($0.kind == .decided || $0.kind == .expired) }
            #expect(ends.count == 1)
        }
    }

    @Test func `a delivery that two hosts made is answered once`() async throws {
        let card = try await alpha.enrolled()
        try await alpha.receive(SampleRequest(), for: card)
        try await alpha.approve(try await alpha.onlyRequest().id)
        let entry = try #require(try await alpha.outbox(of: card).first)
        let ended = await both { host in
            try await host.store.write { store in
                guard try store.isQueued(entry) else { return false }
                try store.endDelivery(of: entry, as: .delivered(.authenticated), error: nil)
                return true
            }
        }
        #expect(try ended.map { try $0.get() }.filter { $0 }.count == 1)
    }

    @Test func `a host looks each second at what another has written, and tells who listens here`() async throws {
        let card = try await alpha.enrolled()
        let told = beta.agent.hub.notifier { $0.kind == .presented && $0.enrollment == card.id }
        try await beta.running([beta.agent.neighbours.run]) {
            #expect(try await beta.clock.naps.next() == 1)
            try await alpha.receive(SampleRequest(), for: card)
            beta.clock.advance(by: 1)
            for await _ in told { break }
        }
    }

    @Test func `what another has to deliver is told to whose share it is, and to no other`() async throws {
        let card = try await alpha.enrolled()
        for isOurs in [true, false] {
            let gamma = try StoreKind.$current.withValue(.postgres) {
                try alpha.neighbour("gamma-\(isOurs)", shares: SetShare(isOurs: isOurs))
            }
            let before = try await alpha.requests().last?.id
            let told = gamma.agent.hub.notifier { $0.kind == .presented && $0.request != before }
            let events = try await gamma.events {
                try await gamma.running([gamma.agent.neighbours.run]) {
                    // It has looked, whatever else sleeps on this clock.
                    while try await gamma.clock.naps.next() != Neighbours.pause {}
                    try await alpha.receive(.numbered(isOurs ? 1 : 2), for: card)
                    try await alpha.approve(try #require(try await alpha.requests().last?.id))
                    gamma.clock.advance(by: Neighbours.pause)
                    for await _ in told { break }
                }
            }
            let newest = try await alpha.requests().last?.id
            #expect(events.contains { $0.kind == .decided && $0.request == newest } == isOurs)
        }
    }

    /// In the second term the share is alpha's, and in the third it is gamma's again.
    @Test(arguments: [1, 2, 3] as [Int64])
    func `a refusal ends a delivery only if no other host has taken the share since it was sent`(epoch: Int64)
        async throws
    {
        let card = try await alpha.enrolled()
        let shares = SetShare(isOurs: true)
        let gamma = try StoreKind.$current.withValue(.postgres) { try alpha.neighbour("gamma", shares: shares) }
        func share(_ host: String, epoch: Int64) throws {
            try tamper("UPDATE lease SET host = ?, epoch = ? WHERE bucket = 0", [host, epoch])
        }
        try share("gamma", epoch: 1)
        try await alpha.receive(SampleRequest(), for: card)
        try await alpha.approve(try await alpha.onlyRequest().id)
        let gate = Channel<Void>()
        await alpha.issuer.onDecision { (_) throws(IssuerError) in
            try await gate.answer()
            throw .problem(.unknownRequest)
        }
        try await gamma.running([gamma.agent.outboxDelivery.run]) {
            _ = try await alpha.issuer.decided.next()
            // Gamma was frozen until now.
            try share(epoch == 2 ? "alpha" : "gamma", epoch: epoch)
            if epoch == 3 { shares.epoch.set(epoch) }
            gate.send(())
            while shares.staleEnds.value == 0, try await !alpha.outbox(of: card).isEmpty { await Task.yield() }
        }
        let refused = DeliveryState.failed(token: ProblemCode.unknownRequest.rawValue)
        let isTaken = epoch > 1
        #expect((shares.staleEnds.value > 0) == isTaken)
        #expect(try await alpha.onlyRequest().life.delivery == (isTaken ? .queued : refused))
        #expect(try await alpha.outbox(of: card).count == (isTaken ? 1 : 0))
    }

    @Test func `on another server every enrollment waits for its issuer, the last of each batch too`() async throws {
        // The second of these is the last one of the first 10,000, which are marked together.
        try tamper("ALTER TABLE enrollment ALTER COLUMN seq RESTART WITH 9999")
        var cards: [EnrollmentID] = []
        for name in ["a", "b", "c"] { cards.append(try await alpha.enrolled(name).id) }
        try tamper("UPDATE lineage SET line = 'another/00000001'")
        _ = try StoreKind.$current.withValue(.postgres) { try alpha.neighbour("gamma") }
        for id in cards { #expect(try await alpha.enrollment(id).refusedSignCount == 0) }
    }

    @Test func `a host whose name another process has taken writes nothing any more`() async throws {
        let card = try await alpha.enrolled()
        try await alpha.receive(SampleRequest(), for: card)
        let id = try await alpha.onlyRequest().id
        let again = try StoreKind.$current.withValue(.postgres) { try alpha.neighbour("alpha") }
        let failure = await #expect(throws: StoreError.self) { try await alpha.approve(id) }
        #expect(failure?.kind == .notOurs && failure?.sentence.contains("has become host alpha") == true)
        #expect(try await again.request(id).life.state == .pending)
        #expect(try await again.approve(id).life.state == .approved)
    }

    @Test func `a host that a change of the secret has shut out ends, and a new start lets it in`() async throws {
        let card = try await alpha.enrolled()
        try await alpha.receive(SampleRequest(), for: card)
        let id = try await alpha.onlyRequest().id
        try tamper("UPDATE host SET incarnation = -abs(incarnation) - 1 WHERE name = 'alpha'")
        let failure = await #expect(throws: StoreError.self) { try await alpha.approve(id) }
        #expect(failure?.kind == .shutOut && failure?.sentence.contains("while host alpha was silent") == true)
        // It ends, so that a service manager starts it again.
        await #expect(throws: StoreError.self) { try await alpha.agent.storeWatch.run() }
        let again = try StoreKind.$current.withValue(.postgres) { try alpha.neighbour("alpha") }
        #expect(try await again.approve(id).life.state == .approved)
    }
}
#endif
