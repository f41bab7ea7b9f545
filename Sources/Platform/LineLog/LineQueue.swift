import Dispatch
import Synchronization

/// Lines on their way to a stream whose reader may have gone away.
///
/// That costs lines, and never blocks the thread that says one: it writes what the stream takes at once. For the rest
/// there is one thread, which alone is held up. The stream may be shared with other processes: to make it non-blocking
/// would do so for all of them, and what poll(2) finds free another may have taken before the write. A regular file has
/// no reader: only its disk could hold up a line, as it would the store.
final class LineQueue: Sendable {
    private struct State {
        /// What is not out yet, in bytes.
        var waiting = 0
        /// The lines that were left out since the last one that was not.
        var lost = 0
        /// The reader does not keep up: nobody waits for it until all is out.
        var isLate = false
    }

    private let queue = DispatchQueue(label: "lines")
    private let state = Mutex(State())
    private let room: Int
    private let patience: DispatchTimeInterval
    private let writeAtOnce: @Sendable (ArraySlice<UInt8>) -> Int
    private let write: @Sendable (ArraySlice<UInt8>) -> Void

    /// - Parameters:
    ///   - room: the bytes that wait at most; one line may have more.
    ///   - patience: how long whoever says a line waits until it is out, if the reader has kept up so far.
    ///   - writeAtOnce: writes as many of the bytes as it can without waiting, and says how many.
    ///   - write: writes all of them; it may block.
    init(
        room: Int = 256 << 10, patience: DispatchTimeInterval = .milliseconds(100),
        writeAtOnce: @escaping @Sendable (ArraySlice<UInt8>) -> Int = { _ in 0 },
        write: @escaping @Sendable (ArraySlice<UInt8>) -> Void
    ) {
        self.room = room
        self.patience = patience
        self.writeAtOnce = writeAtOnce
        self.write = write
    }

    /// Says a line: it is out when the call returns, except if the reader does not keep up.
    ///
    /// - Parameter notice: the line that goes before it if so many were left out before.
    func say(_ line: String, afterLoss notice: (Int) -> String = { "lines were lost: \($0)" }) {
        guard let (work, isLate) = take(line, afterLoss: notice) else { return }
        guard !isLate, work.wait(timeout: .now() + patience) == .timedOut else { return }
        state.withLock { $0.isLate = $0.waiting > 0 }
    }

    /// Waits until all is out, but no longer than that.
    func finish(within patience: DispatchTimeInterval = .seconds(1)) {
        let last = DispatchWorkItem {}
        queue.async(execute: last)
        _ = last.wait(timeout: .now() + patience)
    }

    /// Whether lines wait for the reader, and nobody waits for them.
    var isLate: Bool { state.withLock { $0.isLate } }

    /// Writes a line, or hands it to the thread; nil if it is out, or if there is no room: then it is left out, and counted.
    private func take(
        _ line: String, afterLoss notice: (Int) -> String
    ) -> (work: DispatchWorkItem, isLate: Bool)? {
        state.withLock { state in
            guard state.waiting == 0 || state.waiting + line.utf8.count + 1 <= room else {
                state.lost += 1
                return nil
            }
            var rest = Array(((state.lost > 0 ? notice(state.lost) + "\n" : "") + line + "\n").utf8)[...]
            state.lost = 0
            // Not past what waits.
            if state.waiting == 0 { rest = rest.dropFirst(writeAtOnce(rest)) }
            guard !rest.isEmpty else { return nil }
            let left = rest
            let work = DispatchWorkItem { [self] in
                write(left)
                leave(left.count)
            }
            state.waiting += left.count
            // Here, so that nothing comes between the beginning of a line and its rest.
            queue.async(execute: work)
            return (work, state.isLate)
        }
    }

    private func leave(_ bytes: Int) {
        state.withLock { state in
            state.waiting -= bytes
            if state.waiting == 0 { state.isLate = false }
        }
    }
}

extension LineQueue {
    /// If the stream cannot be written, nobody could be told.
    fileprivate convenience init(of stream: StandardStream) {
        self.init(writeAtOnce: { stream.writeAtOnce($0) }, write: { try? stream.writeAll($0) })
    }
}

extension StandardStream {
    private static let outputLines = LineQueue(of: .output)
    private static let errorLines = LineQueue(of: .error)

    /// Says a line of a service's, which goes on if nobody reads; `write(_:)` waits for whoever asked for it.
    package func say(_ line: String) { lines.say(line) }

    /// - Parameter notice: the line that goes before it if so many were left out before.
    package func say(_ line: String, afterLoss notice: (Int) -> String) { lines.say(line, afterLoss: notice) }

    /// Waits a moment for what is not out yet, at the end of the process.
    package func finish() { lines.finish() }

    private var lines: LineQueue {
        switch self {
        case .output: Self.outputLines
        case .error: Self.errorLines
        }
    }
}
