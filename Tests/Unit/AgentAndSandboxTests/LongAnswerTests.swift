import AgentHost
import Control
import IssuerProtocol
import Records
import StoreTables
import Synchronization
import Testing

/// The agent on its control socket, in this process.
@Suite(.timeLimit(.minutes(20)))
struct LongAnswerTests {
    private func served(_ local: LocalAgent, _ body: (ControlClient) async throws -> Void) async throws {
        try await ControlPort.run(local) { try await body(try $0.client()) }
    }

    @Test func `while a long answer is made for somebody, the agent says how it is`() async throws {
        let read = LongRead()
        let issuer = try IssuerURL("http://localhost:1")
        try await LocalAgent.run(at: issuer, wrapping: { SlowStore(real: $0, read: read) }) { local in
            try await served(local) { client in
                read.next()
                async let status = client.status()
                await read.untilBegun()
                // Behind the first, as all long answers are.
                async let requests = client.requests(all: true, limit: 1, enrollment: nil)
                defer { read.finish() }
                let health = try await client.health()
                #expect(health == HealthView(ready: true))
                read.finish()
                #expect(try await status.state == .ready)
                #expect(try await requests.isEmpty)
            }
        }
    }

    @Test func `whose next request went away waits for another one as long as is left of its time`() async throws {
        let (closing, clock) = (RequestToClose(), ToldClock())
        let issuer = try IssuerURL("http://localhost:1")
        try await LocalAgent.run(at: issuer, wrapping: { ClosingStore(real: $0, closing: closing) }, clock: clock) {
            local in
            let card = try #require(try await local.addEnrollments([try SampleMember(1)]).first)
            closing.set(try await local.addRequest(of: card).id)
            try await served(local) { client in
                await withTaskGroup(of: Void.self) { group in
                    group.addTask {
                        var command = DecideCommand()
                        command.wait = 60
                        _ = try? await client.decide(.deny, on: .next, with: command)
                        clock.end()
                    }
                    // What the decision itself may take is longer than the wait.
                    let nap = await clock.naps.first { $0 <= 60 }
                    #expect(nap.map { $0 < 60 } == true)
                    group.cancelAll()
                }
            }
        }
    }
}

/// A look-up that lasts until it is told to end.
private final class LongRead: Sendable {
    private let isNext = Mutex(false)
    private let beginning = AsyncStream.makeStream(of: Never.self)
    private let end = AsyncStream.makeStream(of: Never.self)

    /// The next look-up is the long one.
    func next() { isNext.withLock { $0 = true } }

    func untilBegun() async { for await _ in beginning.stream {} }

    func finish() { end.continuation.finish() }

    func pass() async {
        let isThis = isNext.withLock { isNext in
            defer { isNext = false }
            return isNext
        }
        guard isThis else { return }
        beginning.continuation.finish()
        for await _ in end.stream {}
    }
}

private struct SlowStore: Store {
    let real: any Store
    let read: LongRead

    func read<T: Sendable>(_ body: @escaping @Sendable (StoreReading) throws -> T) async throws -> T {
        await read.pass()
        return try await real.read(body)
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (StoreTransaction) throws -> T) async throws -> T {
        try await real.write(body)
    }

    func scrub() async throws { try await real.scrub() }

    func emptyLog() async throws -> Bool { try await real.emptyLog() }
}

/// The request that is over once it was looked at.
private final class RequestToClose: Sendable {
    private let id = Mutex<RequestID?>(nil)

    func set(_ id: RequestID) { self.id.withLock { $0 = id } }

    func take() -> RequestID? { id.withLock { $0.take() } }
}

private struct ClosingStore: Store {
    let real: any Store
    let closing: RequestToClose

    func read<T: Sendable>(_ body: @escaping @Sendable (StoreReading) throws -> T) async throws -> T {
        let result = try await real.read(body)
        if let id = closing.take() {
            try await real.write { store in
                guard var request = try store.request(id), request.life.expire() else { return }
                try store.update(request)
            }
        }
        return result
    }

    func write<T: Sendable>(_ body: @escaping @Sendable (StoreTransaction) throws -> T) async throws -> T {
        try await real.write(body)
    }

    func scrub() async throws { try await real.scrub() }

    func emptyLog() async throws -> Bool { try await real.emptyLog() }
}

/// Tells how long each nap is to be, and ends none.
private struct ToldClock: AgentClock {
    let naps: AsyncStream<Double>
    private let told: AsyncStream<Double>.Continuation

    init() { (naps, told) = AsyncStream.makeStream() }

    var now: Int64 { SystemClock().now }

    func sleep(seconds: Double) async throws {
        told.yield(seconds)
        try await Task.sleep(for: .seconds(86_400))
    }

    func end() { told.finish() }
}
