import IssuerProtocol
import Logging
import ScratchDirectories
import StoreTables
import Testing
import WebAuthn

@testable import Authenticator
@testable import Records

/// A store in trouble: it is said, nothing is lost by it, and it ends by itself.
@Suite(.timeLimit(.minutes(20)))
struct StoreErrorTests {
    private let sample: SampleAgent
    private let log = WrittenLog()

    init() throws { sample = try SampleAgent() }

    private var watch: StoreWatch { StoreWatch(ports: sample.ports, bounds: AgentBounds(), log: log.logger) }

    @Test func `a trouble is said once, and ends with the first write that succeeds`() async throws {
        let card = try await sample.enrolled()
        sample.store.breakWrites()
        await #expect(throws: StoreError.self) { try await sample.receive(.numbered(1), for: card) }
        #expect(sample.agent.storeError?.kind == .io)
        try await sample.running([watch.run]) {
            for _ in 1...3 {
                await #expect(throws: StoreError.self) { try await sample.receive(.numbered(1), for: card) }
                #expect(try await sample.clock.wakeNext() == StoreWatch.pause)
            }
            try await sample.clock.sleepers()
            #expect(sample.agent.storeError?.kind == .io)
            sample.store.breakWrites(false)
            try await sample.clock.wakeNext()
            try await sample.ports.storeHealth.untilWell()
        }
        #expect(log.lines(.error) == ["the database is in trouble"])
        try await sample.receive(.numbered(1), for: card)
    }

    @Test func `a trouble that comes and goes is logged once a minute`() async throws {
        let card = try await sample.enrolled()
        try await sample.running([watch.run]) {
            for _ in 1...35 {
                sample.store.breakWrites()
                await #expect(throws: StoreError.self) { try await sample.receive(.numbered(1), for: card) }
                try await sample.clock.sleepers()
                sample.store.breakWrites(false)
                try await sample.clock.wakeNext()
                try await sample.ports.storeHealth.untilWell()
            }
        }
        #expect(log.lines(.error).count == 2)
    }

    @Test func `what needs no room does not end a full disk's trouble`() async throws {
        let card = try await sample.enrolled()
        sample.store.breakWrites(by: .full)
        await #expect(throws: StoreError.self) { try await sample.receive(.numbered(1), for: card) }
        sample.store.breakWrites(false)
        try await sample.agent.ports.store.write { _ in }
        _ = try await sample.agent.enrollments()
        #expect(sample.agent.storeError?.kind == .full)
    }

    @Test func `on a damaged store nothing more is decided, though it could be written`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), for: card)
        let id = try await sample.onlyRequest().id
        sample.store.breakReads(by: .corrupt)
        await #expect(throws: StoreError.self) { try await sample.agent.enrollments() }
        sample.store.breakReads(false)
        sample.ports.storeHealth.noteWritten()
        for decision in [RequestLife.Decision.approve, .deny(.userDenied)] {
            let error = await #expect(throws: StoreError.self) { try await sample.decide(decision, id) }
            #expect(error?.kind == .corrupt)
        }
        #expect(try await sample.request(id).life == .pending)
        #expect(try await sample.outbox(of: card).isEmpty)
    }

    @Test func `a damaged store stays one, whatever trouble comes after`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), for: card)
        let id = try await sample.onlyRequest().id
        for kind in [StoreError.Kind.corrupt, .io] {
            sample.store.breakReads(by: kind)
            await #expect(throws: StoreError.self) { try await sample.agent.enrollments() }
        }
        sample.store.breakReads(false)
        sample.ports.storeHealth.noteWritten()
        #expect(sample.agent.storeError?.kind == .corrupt)
        let error = await #expect(throws: StoreError.self) { try await sample.approve(id) }
        #expect(error?.kind == .corrupt)
    }

    @Test func `services that start while the store cannot be read wait for it`() async throws {
        _ = try await sample.enrolled()
        sample.store.breakReads()
        let (reads, ended) = (Box(0), Channel<Void>())
        sample.store.beforeReading {
            // One of them learns of the trouble when it is over.
            guard reads.next() == 5 else { return }
            try await ended.next()
            throw StoreError(.io, at: "the test's store")
        }
        let agent = sample.agent
        let dead = Box<[StoreError]>([])
        let services = [
            agent.registrationDelivery.run, agent.outboxDelivery.run, agent.fetcher.run, agent.signCountWatch.run,
            agent.expiryService.run,
        ].map { service in
            { @Sendable in
                do { try await service() } catch let trouble as StoreError { dead.change { $0.append(trouble) } }
            }
        }
        try await sample.running(services) {
            try await sample.storeRecovered {
                ended.send(())
                _ = try await sample.issuer.fetched.next()
                try await sample.clock.sleepers(2)
            }
        }
        #expect(dead.value.isEmpty)
    }

    @Test func `what failed before the store could be written, and is told after that, waits for the watch's next try`()
        async throws
    {
        let health = sample.ports.storeHealth
        let trouble = StoreError(.io, at: "the test's store")
        let (begins, fails) = (Channel<Void>(), Channel<Void>())
        let tries = Box(0)
        sample.store.beforeReading {
            guard tries.next() == 1 else { return }
            begins.send(())
            try await fails.next()
            throw trouble
        }
        health.report(trouble)
        try await sample.running([watch.run]) {
            let ports = sample.agent.ports
            async let read: Void = ports.patiently { try await ports.store.read { _ in } }
            try await begins.next()
            #expect(try await sample.clock.wakeNext() == StoreWatch.pause)
            try await health.untilWell()
            fails.send(())
            #expect(try await sample.clock.wakeNext() == StoreWatch.pause)
            try await read
        }
        #expect(tries.value == 2)
        #expect(health.trouble == nil)
    }

    @Test func `a decision that is durable is answered as made, though nobody can look how far it came`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), for: card)
        let id = try await sample.onlyRequest().id
        let decided = try await sample.approve(id)
        sample.store.breakReads()
        #expect(try await sample.agent.delivered(decided, seconds: 10).life == decided.life)
        #expect(decided.life.delivery == .queued)
    }

    @Test func `an enrollment that cannot be written leaves neither a row nor a key`() async throws {
        try await sample.issuer.enrolls(SampleCeremony(attestation: .direct))
        sample.custody.beforeSigning { [sample] in
            let rows = try await sample.allEnrollments()
            #expect(rows.isEmpty, "there is no row before its key")
            sample.store.breakWrites()
        }
        try await sample.running([sample.agent.registrationDelivery.run]) {
            await #expect(throws: StoreError.self) { try await sample.agent.enroll(sample.parameters(), patience: 0) }
            try await sample.storeRecovered()
        }
        #expect(try await sample.allEnrollments().isEmpty)
        #expect(await sample.issuer.registrations.isEmpty)
    }

    @Test func `what was held outlives any trouble of the store`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(SampleRequest(iat: 100, exp: 3_000), for: card)
        #expect(sample.agent.deferredReader.deferred.count == 1)
        try await sample.running([sample.agent.deferredReader.run]) {
            sample.store.breakWrites()
            for _ in 1...15 {
                _ = try await sample.heldReaderNap()
                sample.clock.advance(by: 60)
            }
            _ = try await sample.heldReaderNap()
            try await sample.storeRecovered()
            sample.clock.advance(by: 60)
            try await sample.eventually { try $0.oldestPending(enrollment: nil) }
        }
    }
}
