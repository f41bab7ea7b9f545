import Synchronization

/// How far a long run is, on standard error: a bar at a terminal, else a line for each tenth.
final class Progress: Sendable {
    private struct State: Sendable {
        var done: Int
        var shownTenth: Int
        var shownAt: ContinuousClock.Instant?
    }

    private static let cells = 30

    private let total: Int
    private let before: Int
    private let began = ContinuousClock.now
    private let output: Output
    private let isBar: Bool
    private let state: Mutex<State>

    /// - Parameter done: how many were done before the run began.
    init(done: Int, of total: Int, on output: Output) {
        self.total = total
        self.output = output
        before = done
        isBar = output.showsBars
        state = Mutex(State(done: done, shownTenth: 10 * done / max(total, 1)))
    }

    /// One more is done.
    func advance() {
        state.withLock { state in
            state.done += 1
            show(&state)
        }
    }

    /// Ends the line of the bar.
    func end() {
        guard isBar else { return }
        state.withLock { state in
            output.bar(bar(state.done))
            output.endBar()
        }
    }

    private func show(_ state: inout State) {
        guard isBar else {
            let tenth = 10 * state.done / max(total, 1)
            guard tenth > state.shownTenth else { return }
            state.shownTenth = tenth
            return output.message("\(state.done) of \(total) are enrolled.")
        }
        let now = ContinuousClock.now
        if let shownAt = state.shownAt, shownAt.duration(to: now) < .milliseconds(100), state.done < total { return }
        state.shownAt = now
        output.bar(bar(state.done))
    }

    private func bar(_ done: Int) -> String {
        let filled = Self.cells * done / max(total, 1)
        let seconds = began.duration(to: .now) / .seconds(1)
        let rate = seconds > 0 ? Int((Double(done - before) / seconds).rounded()) : 0
        return "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: Self.cells - filled)
            + "] \(done) of \(total), \(rate)/s"
    }
}
