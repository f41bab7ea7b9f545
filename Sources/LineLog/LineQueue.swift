import Dispatch
import Synchronization

/// Lines on their way to a stream whose reader may have gone away.
///
/// That costs lines, and never blocks the thread that writes one.
///
/// One thread writes them, and it alone is held up. The stream may be shared with other processes: to make it
/// non-blocking would do so for all of them, and what poll(2) finds free another may have taken before the write.
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
    private let write: @Sendable (String) -> Void

    /// - Parameters:
    ///   - room: the bytes that wait at most; one line may have more.
    ///   - patience: how long whoever says a line waits until it is out, if the reader has kept up so far.
    ///   - write: writes lines; it may block.
    init(
        room: Int = 256 << 10, patience: DispatchTimeInterval = .milliseconds(100),
        write: @escaping @Sendable (String) -> Void
    ) {
        self.room = room
        self.patience = patience
        self.write = write
    }

    /// Says a line: it is out when the call returns, except if the reader does not keep up.
    ///
    /// - Parameter notice: the line that goes before it if so many were left out before.
    func say(_ line: String, afterLoss notice: (Int) -> String = { "lines were lost: \($0)" }) {
        let bytes = line.utf8.count + 1
        guard let (lost, isLate) = admit(bytes) else { return }
        let text = lost > 0 ? "\(notice(lost))\n\(line)" : line
        let work = DispatchWorkItem { [self] in
            write(text)
            leave(bytes)
        }
        queue.async(execute: work)
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

    /// Nil if there is no room: then the line is left out, and counted.
    private func admit(_ bytes: Int) -> (lost: Int, isLate: Bool)? {
        state.withLock { state in
            guard state.waiting == 0 || state.waiting + bytes <= room else {
                state.lost += 1
                return nil
            }
            state.waiting += bytes
            defer { state.lost = 0 }
            return (state.lost, state.isLate)
        }
    }

    private func leave(_ bytes: Int) {
        state.withLock { state in
            state.waiting -= bytes
            if state.waiting == 0 { state.isLate = false }
        }
    }
}

extension StandardStream {
    private static let outputLines = LineQueue { StandardStream.output.write($0) }
    private static let errorLines = LineQueue { StandardStream.error.write($0) }

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
