import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import HTTPServing

/// How long a connection may keep the listener waiting; the clock of its event loop is the test's.
@Suite struct ClientPatienceTests {
    @Test func `who is given time anew is cut when that is over, and not when the first was`() {
        let (channel, cuts) = (EmbeddedChannel(), Cuts())
        let patience = ClientPatience(channel, seconds: 10) { cuts.count.add(1, ordering: .relaxed) }
        for _ in 1...3 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(9))
            #expect(cuts.count.load(ordering: .relaxed) == 0)
            patience.renew()
        }
        channel.embeddedEventLoop.advanceTime(by: .seconds(10))
        #expect(cuts.count.load(ordering: .relaxed) == 1)
    }
}

private final class Cuts: Sendable {
    let count = Atomic(0)
}
