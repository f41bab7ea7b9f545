import CLinux
import Dispatch
import Foundation
import Glibc
import ScratchDirectories
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

        func write(_ bytes: ArraySlice<UInt8>) {
            if !isOpen {
                door.wait()
                door.signal()
            }
            let text = String(decoding: bytes, as: UTF8.self)
            written.withLock { $0.append(contentsOf: text.split(separator: "\n").map(String.init)) }
        }

        func open() { door.signal() }
    }

    @Test func `a line is out when the call returns`() {
        let stream = Stream(isOpen: true)
        let queue = LineQueue(patience: .seconds(60)) { stream.write($0) }
        for number in 0..<1_000 {
            queue.log("\(number)")
            #expect(stream.lines.count == number + 1)
        }
        #expect(stream.lines == (0..<1_000).map(String.init))
    }

    @Test func `if nobody reads, what has room waits, and the rest is counted with the next that is written`() {
        let stream = Stream(isOpen: false)
        let queue = LineQueue(room: 30, patience: .milliseconds(1)) { stream.write($0) }
        for number in 10..<30 { queue.log("line \(number)") }
        #expect(stream.lines.isEmpty)
        stream.open()
        queue.finish(within: .seconds(60))
        queue.log("line 30") { "\($0) are lost" }
        queue.log("line 31") { "\($0) are lost" }
        queue.finish(within: .seconds(60))
        #expect(stream.lines == ["line 10", "line 11", "line 12", "17 are lost", "line 30", "line 31"])
    }

    @Test func `one line alone is never too long`() {
        let stream = Stream(isOpen: true)
        let long = String(repeating: "x", count: 100)
        LineQueue(room: 10, patience: .seconds(60)) { stream.write($0) }.log(long)
        #expect(stream.lines == [long])
    }

    @Test func `whoever has come late is waited for again once all is out`() {
        let stream = Stream(isOpen: false)
        let queue = LineQueue(patience: .milliseconds(1)) { stream.write($0) }
        queue.log("first")
        #expect(queue.isLate)
        stream.open()
        queue.finish(within: .seconds(60))
        #expect(!queue.isLate)
    }

    @Test func `the end waits for what is not out, and not for ever`() {
        let stream = Stream(isOpen: false)
        let queue = LineQueue(patience: .milliseconds(1)) { stream.write($0) }
        queue.log("late")
        queue.finish(within: .milliseconds(1))
        #expect(stream.lines.isEmpty)
        stream.open()
        queue.finish(within: .seconds(60))
        #expect(stream.lines == ["late"])
    }

    @Test func `what the stream takes at once is written by whoever says it`() {
        let written = Mutex([String]())
        let queue = LineQueue { bytes in
            written.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
            return bytes.count
        } write: { _ in
            Issue.record("a line was handed to the thread")
        }
        for number in 0..<3 { queue.log("line \(number)") }
        queue.finish(within: .seconds(60))
        #expect(written.withLock { $0 } == ["line 0\n", "line 1\n", "line 2\n"])
    }

    @Test func `of what is taken in part the rest comes next, and no line overtakes it`() {
        let stream = Stream(isOpen: false)
        let taken = Mutex("")
        let asked = Mutex(0)
        let queue = LineQueue(patience: .milliseconds(1)) { bytes in
            asked.withLock { $0 += 1 }
            taken.withLock { $0 += String(decoding: bytes.prefix(3), as: UTF8.self) }
            return min(bytes.count, 3)
        } write: {
            stream.write($0)
        }
        queue.log("first")
        queue.log("second")
        stream.open()
        queue.finish(within: .seconds(60))
        #expect(taken.withLock { $0 } == "fir" && asked.withLock { $0 } == 1)
        #expect(stream.lines == ["st", "second"])
        queue.log("third")
        queue.finish(within: .seconds(60))
        #expect(taken.withLock { $0 } == "firthi" && stream.lines == ["st", "second", "rd"])
    }

    @Test func `of many threads none mixes its line with another's, and none is lost`() async {
        let written = Mutex([UInt8]())
        let queue = LineQueue(room: 1 << 30, patience: .seconds(60)) { bytes in
            // Of every third line a part.
            let count = bytes.count % 3 == 0 ? bytes.count / 2 : bytes.count
            written.withLock { $0 += bytes.prefix(count) }
            return count
        } write: { bytes in
            written.withLock { $0 += bytes }
        }
        await withTaskGroup { group in
            for thread in 0..<8 {
                group.addTask {
                    for number in 0..<500 { queue.log(String(repeating: "\(thread)", count: 1 + number % 7)) }
                }
            }
        }
        queue.finish(within: .seconds(60))
        let lines = written.withLock { String(decoding: $0, as: UTF8.self) }.split(separator: "\n")
        #expect(lines.count == 4_000 && lines.allSatisfy { Set($0).count == 1 })
    }
}

/// What a file takes without anyone who reads it.
@Suite struct WriteAtOnceTests {
    private func write(_ text: String, to file: CInt) -> Int {
        unsafe clinux_write_at_once(file, text, text.utf8.count)
    }

    @Test func `a socket takes what it has room for, and whoever writes does not wait`() {
        var pair: [CInt] = [0, 0]
        #expect(unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &pair) == 0)
        let text = String(repeating: "x", count: 1 << 20)
        let first = write(text, to: pair[0])
        #expect(first > 0 && first < text.utf8.count)
        var count = first
        while count > 0 { count = write(text, to: pair[0]) }
        #expect(count == -1 && errno == EAGAIN)
        // Nor is it ended by SIGPIPE. A process that begins meanwhile may have a copy of the other end.
        #expect(shutdown(pair[1], CInt(SHUT_RDWR)) == 0)
        close(pair[1])
        #expect(write(text, to: pair[0]) == -1 && errno == EPIPE)
        close(pair[0])
    }

    @Test func `a pipe that is full takes nothing, and whoever writes does not wait`() {
        var ends: [CInt] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        let text = String(repeating: "x", count: 1 << 20)
        for _ in 0..<100 where write(text, to: ends[1]) < 0 { break }
        #expect(write("more", to: ends[1]) == -1 && (errno == EAGAIN || errno == EOPNOTSUPP))
        ends.forEach { close($0) }
    }

    @Test func `a regular file takes all`() throws {
        let file = try ScratchDirectory()
        let path = file("log")
        let descriptor = unsafe open(path, O_CREAT | O_WRONLY | O_APPEND, 0o600)
        #expect(write("one\n", to: descriptor) == 4 && write("two\n", to: descriptor) == 4)
        close(descriptor)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "one\ntwo\n")
    }
}
