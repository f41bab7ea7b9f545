import Dispatch
import Foundation
import LinuxProcess
import Synchronization
import Testing

@testable import Threads

@Suite struct OwnThreadsTests {
    @Test func `what is run from one of them goes on there, without a change of threads`() async throws {
        let threads = try OwnThreads(limit: 2)
        let (outside, inside, after) = try await threads.perform {
            let outside = try currentThread()
            let inside = try await threads.perform { try currentThread() }
            return (outside, inside, try currentThread())
        }
        #expect(inside == outside)
        #expect(after == outside)
    }

    @Test func `a task of several threads waits on one, and those of the others go on`() async throws {
        let threads = try OwnThreads(limit: 2)
        let isThere = DispatchSemaphore(value: 0)
        try await withThrowingTaskGroup { group in
            // Were there one thread, the second task would never run.
            group.addTask { await threads.perform { isThere.waitForOther() } }
            group.addTask { await threads.perform { _ = isThere.signal() } }
            try await group.waitForAll()
        }
    }

    @Test func `others do the tasks that come from one of them, however long that one is busy`() async throws {
        let threads = try OwnThreads(limit: 4)
        await threads.perform {
            let isDone = DispatchSemaphore(value: 0)
            await withTaskGroup { group in
                for _ in 1...4 {
                    group.addTask { _ = isDone.signal() }
                    #expect(isDone.wait(for: 60))
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(20)))
    func `what is made by the last task of all, once nobody has the threads, is done too`() async throws {
        for _ in 1...20 {
            var threads: OwnThreads? = try OwnThreads(limit: 2)
            let executor = try #require(threads).executor
            let isOver = DispatchSemaphore(value: 0)
            let task = Task(executorPreference: executor) {
                isOver.waitForOther()
                for _ in 1...100 { await Task.yield() }
                return true
            }
            threads = nil
            isOver.signal()
            #expect(await task.value)
        }
    }

    @Test func `nothing is lost or done twice if tasks come from all sides`() async throws {
        let threads = try OwnThreads(limit: 4)
        let done = Counter()
        await withTaskGroup { group in
            for _ in 1...50 {
                group.addTask {
                    await threads.perform {
                        await withTaskGroup { group in
                            for _ in 1...40 {
                                group.addTask {
                                    await Task.yield()
                                    done.count.add(1, ordering: .relaxed)
                                }
                            }
                        }
                    }
                }
            }
        }
        #expect(done.count.load(ordering: .relaxed) == 2_000)
    }

    @Test func `they end once nobody has them any more`() async {
        await #expect(processExitsWith: .success) {
            let before = try threadCount()
            for _ in 1...20 { await (try OwnThreads(limit: 4)).perform {} }
            // They end by themselves, so soon after.
            while try threadCount() > before + 8 { usleep(1_000) }
        }
    }

    @Test(.disabled(if: CommandLine.arguments[0].contains("/sanitize-"), "a sanitizer's memory is not the system's"))
    func `memory that was freed is given back to the system`() async {
        await #expect(processExitsWith: .success) {
            // Small enough to come from a pool; what is kept between them keeps the pool from shrinking at its end.
            var pieces = (0..<200_000).map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: 200) }
            let full = try privateMemory()
            pieces = pieces.enumerated().filter { $0.offset % 1_000 == 999 }.map(\.element)
            AllocatedMemory.giveBack()
            let left = try privateMemory()
            #expect(pieces.count == 200)
            #expect(full - left > 20_000, "\(full) kB before, \(left) kB after")
        }
    }
}

private final class Counter: Sendable {
    let count = Atomic(0)
}

extension DispatchSemaphore {
    // They wait on the thread that they are called on, which a task must not do elsewhere.

    fileprivate func waitForOther() { wait() }

    /// - Returns: whether it was signalled within so many seconds.
    fileprivate func wait(for seconds: Int) -> Bool { wait(timeout: .now() + .seconds(seconds)) == .success }
}

/// The system's name of the thread; `pthread_self()` says the same to a task that has changed threads, being constant to C.
private func currentThread() throws -> String {
    try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
}

/// A number of /proc/self/status.
private func status(_ name: String) throws -> Int {
    let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
    let line = try #require(lines.first { $0.hasPrefix(name + ":") })
    return try #require(Int(line.split(whereSeparator: \.isWhitespace)[1]))
}

private func threadCount() throws -> Int { try status("Threads") }

/// In kB.
private func privateMemory() throws -> Int { try status("RssAnon") }
