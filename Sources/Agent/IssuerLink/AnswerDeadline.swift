import Records
internal import Synchronization

/// The end of a call: first the limit of the call, and once the body has begun that of its rest.
///
/// A poll's own limit is that of its first byte; other calls keep theirs to the end.
final class AnswerDeadline: Sendable {
    private struct State {
        var cut: (@Sendable () -> Void)?
        var ofCall: Alarm?
        var ofRest: Alarm?
        /// Whether the call's own limit ends nothing any more.
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

    /// Why the call was cut; `nil` if it was not.
    var late: String? { state.withLock(\.late) }

    /// - Parameter cut: ends the call.
    func start(cut: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            state.cut = cut
            return state.late != nil
        }
        // The call was made before: its answer may have begun, or have come too slowly, by now.
        if isLate { return cut() }
        setCallAlarm(
            clock.alarm(after: call.seconds) { [self] in
                end("the issuer did not answer within \(Int(call.seconds)) s")
            })
    }

    /// Nothing is cut any more.
    func cancel() {
        let alarms = state.withLock { state in
            state.isOver = true
            state.cut = nil
            defer { (state.ofCall, state.ofRest) = (nil, nil) }
            return [state.ofCall, state.ofRest]
        }
        for alarm in alarms { alarm?.cancel() }
    }

    /// Takes the time for the rest of a body, which has begun, waits for room or goes on.
    func follow(_ reader: AnswerReader) {
        if call.pool == .polls { endCallLimit() }
        guard let left = reader.secondsLeft else { return }
        guard left > 0 else {
            return end(
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

    private func end(_ reason: String) {
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
