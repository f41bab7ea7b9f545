import Dispatch
import Synchronization

/// A queue of lines for a stream whose reader may have stopped.
///
/// Without a reader, lines are lost, but a caller never blocks for longer than `patience`. The caller writes only the
/// bytes that the stream accepts at once. One thread writes the rest, and only this thread may block. The stream may be
/// shared with other processes. To make it non-blocking would make it so for all of them, and another process may use
/// the room that poll(2) found before the write. A regular file has no reader: only its disk could delay a line, and
/// would delay the store too.
final class LineQueue: Sendable {
    private struct State {
        /// The number of bytes that are not written yet.
        var waiting = 0
        /// The number of lines that were left out since the last line that was written.
        var lost = 0
        /// Whether a reader is late, in which case no caller waits for it until all lines are written.
        var isLate = false
    }

    private let queue = DispatchQueue(label: "lines")
    private let state = Mutex(State())
    private let room: Int
    private let patience: DispatchTimeInterval
    private let writeAtOnce: @Sendable (ArraySlice<UInt8>) -> Int
    private let write: @Sendable (ArraySlice<UInt8>) -> Void

    /// - Parameters:
    ///   - room: the most bytes that wait. One line may have more.
    ///   - patience: the time that a caller waits until its line is written, if the reader has kept up so far.
    ///   - writeAtOnce: writes as many of the bytes as it can without waiting, and returns their number.
    ///   - write: writes all of the bytes; it may block.
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

    /// Adds a line, which is written when the call returns, except if the reader does not keep up.
    ///
    /// - Parameter notice: returns a line for the number of lines that were left out. It is written before this line.
    func log(_ line: String, afterLoss notice: (Int) -> String = { "lines were lost: \($0)" }) {
        guard let (work, isLate) = write(line, afterLoss: notice) else { return }
        guard !isLate, work.wait(timeout: .now() + patience) == .timedOut else { return }
        state.withLock { $0.isLate = $0.waiting > 0 }
    }

    /// Waits until all lines are written, for at most `patience`.
    func finish(within patience: DispatchTimeInterval = .seconds(1)) {
        let last = DispatchWorkItem {}
        queue.async(execute: last)
        _ = last.wait(timeout: .now() + patience)
    }

    /// Whether lines wait for the reader, and no caller waits for them.
    var isLate: Bool { state.withLock { $0.isLate } }

    /// Writes a line, or passes its rest to the thread and returns that work.
    ///
    /// Returns `nil` if the line is written, or if there is no room. In the second case the line is left out and
    /// counted.
    private func write(
        _ line: String, afterLoss notice: (Int) -> String
    ) -> (work: DispatchWorkItem, isLate: Bool)? {
        state.withLock { state in
            guard state.waiting == 0 || state.waiting + line.utf8.count + 1 <= room else {
                state.lost += 1
                return nil
            }
            var rest = Array(((state.lost > 0 ? notice(state.lost) + "\n" : "") + line + "\n").utf8)[...]
            state.lost = 0
            // Bytes that wait are written first.
            if state.waiting == 0 { rest = rest.dropFirst(writeAtOnce(rest)) }
            guard !rest.isEmpty else { return nil }
            let left = rest
            let work = DispatchWorkItem { [self] in
                write(left)
                leave(left.count)
            }
            state.waiting += left.count
            // Under the lock, so that no other line comes between the beginning of a line and its rest.
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
    /// Makes the queue of a stream.
    ///
    /// A write error is ignored, because it cannot be reported anywhere.
    fileprivate convenience init(of stream: StandardStream) {
        self.init(writeAtOnce: { stream.writeAtOnce($0) }, write: { try? stream.writeAll($0) })
    }
}

extension StandardStream {
    private static let outputLines = LineQueue(of: .output)
    private static let errorLines = LineQueue(of: .error)

    /// Writes a line of a service, which goes on without a reader.
    ///
    /// `write(_:)` waits for the reader, who asked for the line.
    package func log(_ line: String) { lines.log(line) }

    /// - Parameter notice: returns a line for the number of lines that were left out. It is written before this line.
    package func log(_ line: String, afterLoss notice: (Int) -> String) { lines.log(line, afterLoss: notice) }

    /// Waits at most a second for lines that are not written yet, at the end of the process.
    package func finish() { lines.finish() }

    private var lines: LineQueue {
        switch self {
        case .output: Self.outputLines
        case .error: Self.errorLines
        }
    }
}
