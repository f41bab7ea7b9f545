import Dispatch
import Synchronization
import Testing

@testable import LineLog

@Suite struct LineQueueTests {
    /// A stream of which nobody reads while its door is closed.
    private final class Stream: Sendable {
        private let written = Mutex([String]())
        private let door = DispatchSemaphore(value: 0)
        private let isOpen: Bool

        init(isOpen: Bool) { self.isOpen = isOpen }

        var lines: [String] { written.withLock { $0 } }

        func write(_ text: String) {
            if !isOpen {
                door.wait()
                door.signal()
            }
            written.withLock { $0.append(contentsOf: text.split(separator: "\n").map(String.init)) }
        }

        func open() { door.signal() }
    }

    @Test func `a line is out when the call returns`() {
        let stream = Stream(isOpen: true)
        let queue = LineQueue(patience: .seconds(60)) { stream.write($0) }
        for number in 0..<1_000 {
            queue.say("\(number)")
            #expect(stream.lines.count == number + 1)
        }
        #expect(stream.lines == (0..<1_000).map(String.init))
    }

    @Test func `if nobody reads, what has room waits, and the rest is counted with the next that is written`() {
        let stream = Stream(isOpen: false)
        let queue = LineQueue(room: 30, patience: .milliseconds(1)) { stream.write($0) }
        for number in 10..<30 { queue.say("line \(number)") }
        #expect(stream.lines.isEmpty)
        stream.open()
        queue.finish(within: .seconds(60))
        queue.say("line 30") { "\($0) are lost" }
        queue.say("line 31") { "\($0) are lost" }
        queue.finish(within: .seconds(60))
        #expect(stream.lines == ["line 10", "line 11", "line 12", "17 are lost", "line 30", "line 31"])
    }

    @Test func `one line alone is never too long`() {
        let stream = Stream(isOpen: true)
        let long = String(repeating: "x", count: 100)
        LineQueue(room: 10, patience: .seconds(60)) { stream.write($0) }.say(long)
        #expect(stream.lines == [long])
    }

    @Test func `whoever has come late is waited for again once all is out`() {
        let stream = Stream(isOpen: false)
        let queue = LineQueue(patience: .milliseconds(1)) { stream.write($0) }
        queue.say("first")
        #expect(queue.isLate)
        stream.open()
        queue.finish(within: .seconds(60))
        #expect(!queue.isLate)
    }

    @Test func `the end waits for what is not out, and not for ever`() {
        let stream = Stream(isOpen: false)
        let queue = LineQueue(patience: .milliseconds(1)) { stream.write($0) }
        queue.say("late")
        queue.finish(within: .milliseconds(1))
        #expect(stream.lines.isEmpty)
        stream.open()
        queue.finish(within: .seconds(60))
        #expect(stream.lines == ["late"])
    }
}
