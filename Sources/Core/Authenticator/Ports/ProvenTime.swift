import IssuerProtocol
import Records
import Synchronization
import TextAndTime

/// The time that is known to have passed: the age of all that is kept counts by it.
///
/// A clock can be wrong by years, so nothing is deleted because a clock says so. This time grows by the time that the
/// machine has run, and moves up to a time that the issuers have signed. So it is never ahead of the right time, unless
/// two issuers lie, or the only one.
package final class ProvenTime: Sendable {
    /// The seconds that a clock may be ahead of it.
    ///
    /// A machine that is off for a night proves nothing meanwhile.
    static let tolerance: Int64 = 2 * 86_400

    private struct State {
        var moment: ProvenMoment
        /// When it was that, by the clock that nobody sets.
        var running: Double
        /// Whether the store has it, or something by which it was found.
        var isKept = false
        /// The greatest `iat` of each of the two issuers that have signed the greatest since the start, greatest first.
        var signed: [(issuer: IssuerURL, at: Int64)] = []
    }

    private let clock: any AgentClock
    private let state: Mutex<State>

    /// As long as the store has none, and nothing whose age would count, it is what the clock says.
    init(_ clock: any AgentClock) {
        self.clock = clock
        state = Mutex(State(moment: ProvenMoment(at: clock.now), running: clock.running))
    }

    var moment: ProvenMoment { state.withLock { current($0) } }

    /// Seconds since 1970.
    package var now: Int64 { moment.at }

    private func current(_ state: State) -> ProvenMoment {
        var moment = state.moment
        moment.at = moment.at.later(by: Int64(max(clock.running - state.running, 0)))
        return moment
    }

    /// The time from which on something counts that is written now: a clock that is behind makes nothing older.
    func stamp(_ clockTime: Int64) -> Int64 { isBehind(clockTime) ? now : clockTime }

    /// Whether a clock is behind it by more than clocks are set back when they are set right.
    func isBehind(_ clockTime: Int64) -> Bool { now.seconds(since: clockTime) > ClockCheck.tolerance }

    /// Whether the store has it.
    var isKept: Bool { state.withLock(\.isKept) }

    /// Whether the clock is so far ahead of it that it is not believed.
    var isClockAhead: Bool { isKept && clock.now.seconds(since: now) > Self.tolerance }

    /// A sentence that says what is wrong, what it means, and what to do; nil if the clock is not ahead.
    var trouble: String? {
        guard isClockAhead else { return nil }
        return
            "clockAhead: this machine's clock says \(UTCTime.text(clock.now)), and only \(UTCTime.text(now)) is proven "
            + "to have passed; nothing is deleted by that clock until two issuers, or the only one, have signed such a time, "
            + "or, with the agent stopped, oob-agent --accept-clock takes it as it is"
    }

    /// Takes what the store has, if that is later.
    func adopt(_ stored: ProvenMoment) {
        state.withLock { state in
            if !state.isKept || stored.isLater(than: current(state)) { set(&state, stored) }
            state.isKept = true
        }
    }

    /// Is what the clock says: nothing is stored whose age would count.
    func followClock() {
        state.withLock { if !$0.isKept { set(&$0, ProvenMoment(at: clock.now)) } }
    }

    private func set(_ state: inout State, _ moment: ProvenMoment) {
        (state.moment, state.running) = (moment, clock.running)
    }

    /// Notes what an issuer has signed; a time ahead of the clock proves nothing.
    func note(iat: Int64, by issuer: IssuerURL) {
        let now = clock.now
        guard iat <= now.later(by: AuthnRequestReader.clockTolerance) else { return }
        state.withLock { state in
            var signed = state.signed.filter { $0.issuer != issuer }
            let known = state.signed.first { $0.issuer == issuer }?.at ?? .min
            signed.append((issuer, max(known, min(iat, now))))
            state.signed = Array(signed.sorted { $0.at > $1.at }.prefix(2))
        }
    }

    /// The issuer that has signed the greatest `iat`, if that is past the proven time; nil if none has.
    var witness: IssuerURL? {
        state.withLock { state in
            state.signed.first.flatMap { $0.at > current(state).at ? $0.issuer : nil }
        }
    }

    /// Moves up to what is proven.
    ///
    /// - Parameter only: the issuer whose word is enough, as no other could say anything; nil: two are needed.
    func moveUp(only: IssuerURL?) {
        state.withLock { state in
            let proof = state.signed.first { $0.issuer == only } ?? state.signed.dropFirst().first
            var moment = current(state)
            guard let proven = proof?.at, proven > moment.at else { return }
            moment.at = proven
            set(&state, moment)
        }
    }
}
