package import NIOCore
import Synchronization

/// A deadline for the next action of a client, postponed by each action.
///
/// There is one timer at a time, on the connection's event loop. A timer that fires too early is set again. Postponing
/// the deadline therefore wakes no thread. Setting a timer from another thread would wake one.
package final class ClientDeadline: Sendable {
    private struct State {
        /// The deadline, which never moves to an earlier time, or `nil` while the client owes no action.
        var time: NIODeadline?
        /// Whether a timer is set or about to be set.
        var isTimed = false
        var timer: Scheduled<Void>?
        /// Whether it is paused until the server's answer begins.
        var isPaused = false
        var isOver = false
    }

    private let loop: any EventLoop
    private let amount: TimeAmount
    private let action: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - amount: the time that a client has, counted from each ``renew()``.
    ///   - action: called on the event loop if the client is late.
    package init(on loop: any EventLoop, after amount: TimeAmount, _ action: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.amount = amount
        self.action = action
    }

    /// Gives the client the full time from now on.
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

    /// Stops the deadline until ``renew()``.
    package func callOff() { state.withLock { $0.time = nil } }

    /// Stops the deadline until ``resume()``, because the client waits for the server.
    package func pause() {
        state.withLock { state in (state.time, state.isPaused) = (nil, true) }
    }

    /// Gives the client the full time from now on, if the deadline was paused.
    package func resume() {
        let wasPaused = state.withLock { state in
            defer { state.isPaused = false }
            return state.isPaused
        }
        if wasPaused { renew() }
    }

    /// Stops the deadline for good, and cancels the timer.
    package func cancel() {
        let timer = state.withLock { state in
            state.isOver = true
            state.time = nil
            defer { state.timer = nil }
            return state.timer
        }
        timer?.cancel()
    }

    private func setTimer(to time: NIODeadline) {
        let timer = loop.scheduleTask(deadline: time) { self.fire() }
        let isOver = state.withLock { state in
            if !state.isOver { state.timer = timer }
            return state.isOver
        }
        if isOver { timer.cancel() }
    }

    private func fire() {
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
