import Dispatch
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import HTTPServing

/// How long a connection may keep the listener waiting; the clock of its event loop is the test's.
@Suite struct ClientDeadlineTests {
    private let loop = EmbeddedEventLoop()
    private let cuts = Cuts()
    private let deadline: ClientDeadline

    init() { deadline = ClientDeadline(on: loop, after: .seconds(10)) { [cuts] in cuts.add() } }

    /// Not before, and not twice.
    private func expectCutAfterTenSeconds() {
        loop.advanceTime(by: .milliseconds(9_999))
        #expect(cuts.count == 0)
        loop.advanceTime(by: .milliseconds(1))
        #expect(cuts.count == 1)
        loop.advanceTime(by: .seconds(100))
        #expect(cuts.count == 1)
    }

    @Test func `who is given time anew is cut when that is over, and not when the first was`() {
        deadline.renew()
        for _ in 1...3 {
            loop.advanceTime(by: .seconds(9))
            #expect(cuts.count == 0)
            deadline.renew()
        }
        expectCutAfterTenSeconds()
    }

    @Test func `who owes nothing is never cut, and has the whole time once it owes something again`() {
        deadline.renew()
        loop.advanceTime(by: .seconds(5))
        deadline.callOff()
        loop.advanceTime(by: .seconds(100))
        #expect(cuts.count == 0)
        deadline.renew()
        expectCutAfterTenSeconds()
    }

    @Test func `once it has ended nobody is cut, whatever is called after that`() {
        deadline.renew()
        deadline.cancel()
        deadline.renew()
        loop.advanceTime(by: .seconds(100))
        #expect(cuts.count == 0)
    }

    @Test func `however often it is put off, there is one timer`() {
        let counting = CountingLoop(loop)
        let deadline = ClientDeadline(on: counting, after: .seconds(10)) {}
        for _ in 1...1_000 { deadline.renew() }
        deadline.callOff()
        deadline.renew()
        #expect(counting.timers.load(ordering: .relaxed) == 1)
        loop.advanceTime(by: .seconds(9))
        deadline.renew()
        loop.advanceTime(by: .seconds(9))
        #expect(counting.timers.load(ordering: .relaxed) == 2)
    }
}

private final class Cuts: Sendable {
    private let cuts = Atomic(0)

    var count: Int { cuts.load(ordering: .relaxed) }

    func add() { cuts.add(1, ordering: .relaxed) }
}

/// An event loop that counts the timers that are set.
private final class CountingLoop: EventLoop {
    let timers = Atomic(0)
    private let loop: EmbeddedEventLoop

    init(_ loop: EmbeddedEventLoop) { self.loop = loop }

    var now: NIODeadline { loop.now }
    var inEventLoop: Bool { loop.inEventLoop }

    func execute(_ task: @escaping @Sendable () -> Void) { loop.execute(task) }

    func submit<T>(_ task: @escaping @Sendable () throws -> T) -> EventLoopFuture<T> { loop.submit(task) }

    func scheduleTask<T>(deadline: NIODeadline, _ task: @escaping @Sendable () throws -> T) -> Scheduled<T> {
        timers.add(1, ordering: .relaxed)
        return loop.scheduleTask(deadline: deadline, task)
    }

    func scheduleTask<T>(in amount: TimeAmount, _ task: @escaping @Sendable () throws -> T) -> Scheduled<T> {
        scheduleTask(deadline: now + amount, task)
    }

    func shutdownGracefully(queue: DispatchQueue, _ callback: @escaping @Sendable ((any Error)?) -> Void) {
        loop.shutdownGracefully(queue: queue, callback)
    }
}
