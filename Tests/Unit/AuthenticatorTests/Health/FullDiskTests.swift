import IssuerProtocol
import Logging
import Testing

@testable import Authenticator
@testable import Records

/// A full disk, whose reserve is for what is already pending.
@Suite(.timeLimit(.minutes(20)))
struct FullDiskTests {
    private let sample: SampleAgent
    private let log = WrittenLog()

    init() throws { sample = try SampleAgent() }

    private var watch: StoreWatch {
        StoreWatch(ports: sample.agent.ports, bounds: AgentBounds(), log: log.logger)
    }

    /// Fills the disk: the next write finds no room, and gives up the reserve.
    private func fillDisk() {
        sample.store.setReserve(true, hasRoom: false)
        sample.store.breakWrites(by: .full)
    }

    @Test func `on a full disk what is pending is decided and nothing new is taken in`() async throws {
        let card = try await sample.enrolled()
        try await sample.receive(.numbered(1), for: card)
        let id = try await sample.onlyRequest().id
        fillDisk()
        let decided = try await sample.approve(id)
        #expect(decided.life.delivery == .queued)
        #expect(sample.agent.storeError?.kind == .full)
        let error = await #expect(throws: StoreError.self) { try await sample.receive(.numbered(2), for: card) }
        #expect(error?.kind == .full)
        #expect(try await sample.onlyRequest().id == id)
    }

    @Test func `the request that finds the disk full is not written in the room of the reserve`() async throws {
        let card = try await sample.enrolled()
        fillDisk()
        await #expect(throws: StoreError.self) { try await sample.receive(.numbered(1), for: card) }
        #expect(sample.agent.storeError?.kind == .full)
        sample.ports.storeHealth.noteWritten()
        try await sample.receive(.numbered(1), for: card)
        _ = try await sample.onlyRequest()
    }

    @Test func `on a full disk no enrollment is begun, and its code is not used`() async throws {
        let card = try await sample.enrolled()
        fillDisk()
        await #expect(throws: StoreError.self) { try await sample.receive(.numbered(1), for: card) }
        let error = await #expect(throws: StoreError.self) {
            try await sample.agent.enroll(sample.parameters(), patience: 0)
        }
        #expect(error?.kind == .full)
    }

    @Test func `the disk is full until the reserve is kept again`() async throws {
        let card = try await sample.enrolled()
        sample.store.setReserve(true)
        try await sample.running([watch.run]) {
            fillDisk()
            await #expect(throws: StoreError.self) { try await sample.receive(.numbered(1), for: card) }
            for _ in 1...3 { #expect(try await sample.clock.wakeNext() == StoreWatch.pause) }
            try await sample.clock.sleepers()
            #expect(sample.agent.storeError?.kind == .full)
            sample.store.setReserve(false, hasRoom: true)
            try await sample.clock.wakeNext()
            try await sample.ports.storeHealth.untilWell()
        }
        #expect(log.lines(.error) == ["the database is in trouble"])
        try await sample.receive(.numbered(1), for: card)
    }

    @Test func `an agent that starts without room for a reserve takes nothing new in`() async throws {
        let card = try await sample.enrolled()
        sample.store.setReserve(false, hasRoom: false)
        try await sample.running([watch.run]) {
            try await sample.clock.sleepers()
            let error = await #expect(throws: StoreError.self) { try await sample.receive(.numbered(1), for: card) }
            #expect(error?.kind == .full)
        }
    }
}
