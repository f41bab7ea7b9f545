package import NIOCore
import Synchronization

/// When a client has to have done something, put off with each thing that it does.
///
/// There is one timer at a time, on the event loop of the connection. It is set anew when it rings too early, so to put
/// the deadline off wakes up no thread, which setting a timer from another thread does.
package final class ClientDeadline: Sendable {
    private struct State {
        /// Nil while the client owes nothing; it never moves to an earlier time.
        var time: NIODeadline?
        /// Whether there is a timer, or is about to be.
        var isTimed = false
        var timer: Scheduled<Void>?
        /// Whether it is called off until the server's answer begins.
        var isPaused = false
        var isOver = false
    }

    private let loop: any EventLoop
    private let amount: TimeAmount
    private let action: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - amount: how long a client has, counted from each ``renew()``.
    ///   - action: called on the event loop if it is late.
    package init(on loop: any EventLoop, after amount: TimeAmount, _ action: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.amount = amount
        self.action = action
    }

    /// The client has the whole time from now on.
    package func renew() {
        let time = loop.now + amount
        let isTimed = state.withLock { state in
            guard !state.isOver else { return true }
            state.time = time
            defer { state.isTimed = true }
            return state.isTimed
        }
        if !isTimed { setTimer(to: time) }
    }

    /// The client owes nothing until ``renew()``.
    package func callOff() { state.withLock { $0.time = nil } }

    /// The client owes nothing until ``resume()``, because the server takes its time.
    package func pause() {
        state.withLock { state in (state.time, state.isPaused) = (nil, true) }
    }

    /// The client has the whole time from now on, if it was paused.
    package func resume() {
        let wasPaused = state.withLock { state in
            defer { state.isPaused = false }
            return state.isPaused
        }
        if wasPaused { renew() }
    }

    /// Calls it off for good, and leaves no timer.
    package func end() {
        let timer = state.withLock { state in
            state.isOver = true
            state.time = nil
            defer { state.timer = nil }
            return state.timer
        }
        timer?.cancel()
    }

    private func setTimer(to time: NIODeadline) {
        let timer = loop.scheduleTask(deadline: time) { self.ring() }
        let isOver = state.withLock { state in
            if !state.isOver { state.timer = timer }
            return state.isOver
        }
        if isOver { timer.cancel() }
    }

    private func ring() {
        let now = loop.now
        let time = state.withLock { state in
            let time = state.time
            state.isTimed = time.map { $0 > now } ?? false
            if !state.isTimed { (state.time, state.timer) = (nil, nil) }
            return time
        }
        guard let time else { return }
        if time > now { setTimer(to: time) } else { action() }
    }
}
