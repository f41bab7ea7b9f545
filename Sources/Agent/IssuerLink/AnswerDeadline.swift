import Records
internal import Synchronization

/// The deadline of a call: first the limit of the call, and once the body has begun the limit for its rest.
///
/// For a poll, the call's limit covers the time to the first byte. For other calls it covers the whole answer.
final class AnswerDeadline: Sendable {
    private struct State {
        var cut: (@Sendable () -> Void)?
        var ofCall: Alarm?
        var ofRest: Alarm?
        /// Whether polls have passed the call's own limit, which then no longer applies.
        var isCallLimitOver = false
        var late: String?
        var isOver = false
    }

    private let call: IssuerCall
    private let clock: any AgentClock
    private let state = Mutex(State())

    init(of call: IssuerCall, _ clock: any AgentClock) {
        self.call = call
        self.clock = clock
    }

    /// The reason why the call was cut, or `nil` if it was not.
    var late: String? { state.withLock(\.late) }

    /// - Parameter cut: ends the call.
    func start(cut: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            state.cut = cut
            return state.late != nil
        }
        // The call was sent before this: by now its answer may have begun, or have come too slowly.
        if isLate { return cut() }
        setCallAlarm(
            clock.alarm(after: call.seconds) { [self] in
                fail("the issuer did not answer within \(Int(call.seconds)) s")
            })
    }

    /// Cancels both deadlines; the call is not cut any more.
    func cancel() {
        let alarms = state.withLock { state in
            state.isOver = true
            state.cut = nil
            defer { (state.ofCall, state.ofRest) = (nil, nil) }
            return [state.ofCall, state.ofRest]
        }
        for alarm in alarms { alarm?.cancel() }
    }

    /// Updates the deadline for the rest of a body that has begun, waits for room or continues.
    func follow(_ reader: AnswerReader) {
        if call.pool == .polls { endCallLimit() }
        guard let left = reader.secondsLeft else { return }
        guard left > 0 else {
            return fail(
                reader.isWaiting
                    ? "the issuer's answer waited too long for room: other answers take it"
                    : "the issuer's answer came too slowly: its rest has 5 s, and another for each 64 KiB")
        }
        setRestAlarm(clock.alarm(after: left) { [weak reader] in reader.map(self.follow) })
    }

    private func setCallAlarm(_ alarm: Alarm) {
        let unused = state.withLock { state in
            state.isOver || state.isCallLimitOver ? alarm : exchange(&state.ofCall, alarm)
        }
        unused?.cancel()
    }

    private func endCallLimit() {
        let unused = state.withLock { state in
            state.isCallLimitOver = true
            return exchange(&state.ofCall, nil)
        }
        unused?.cancel()
    }

    private func setRestAlarm(_ alarm: Alarm?) {
        let unused = state.withLock { state in state.isOver ? alarm : exchange(&state.ofRest, alarm) }
        unused?.cancel()
    }

    private func fail(_ reason: String) {
        let cut = state.withLock { state in
            if !state.isOver, state.late == nil { state.late = reason }
            return state.cut
        }
        cut?()
    }
}

private func exchange(_ place: inout Alarm?, _ alarm: Alarm?) -> Alarm? {
    defer { place = alarm }
    return place
}
