import IssuerProtocol
import Records
import Synchronization
import TextAndTime

/// Lower bound of the present time, by which the age of stored data counts.
///
/// A clock can be wrong by years, so a clock alone never causes a deletion. The proven time grows by the time that the
/// machine has run, and moves up to a time that the issuers have signed. So it is never ahead of the right time, unless
/// two issuers lie, or the only one.
package final class ProvenTime: Sendable {
    /// The seconds by which a clock may be ahead of the proven time.
    ///
    /// A machine that is off for a night proves no time meanwhile.
    static let tolerance: Int64 = 2 * 86_400

    private struct State {
        var moment: ProvenMoment
        /// The running clock's time at ``moment``.
        ///
        /// That clock cannot be set.
        var running: Double
        /// Whether this time, or the time that it was derived from, is in the store.
        var isKept = false
        /// The greatest `iat` of each of two issuers since the start, greatest first.
        ///
        /// These two have signed the greatest times of all issuers.
        var signed: [(issuer: IssuerURL, at: Int64)] = []
    }

    private let clock: any AgentClock
    private let state: Mutex<State>

    /// Starts at the clock's time.
    ///
    /// That is right while the store has neither a proven time nor data whose age counts.
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

    /// Returns the time to store with new data.
    ///
    /// A clock that is behind does not make the data older.
    func stamp(_ clockTime: Int64) -> Int64 { isBehind(clockTime) ? now : clockTime }

    /// Returns whether a clock is behind by more than a usual correction of a clock.
    func isBehind(_ clockTime: Int64) -> Bool { now.seconds(since: clockTime) > ClockCheck.tolerance }

    /// Whether this time is in the store.
    var isKept: Bool { state.withLock(\.isKept) }

    /// Whether this machine's clock is too far ahead to be believed.
    var isClockAhead: Bool { isKept && clock.now.seconds(since: now) > Self.tolerance }

    /// A sentence with the fault, its consequence and the remedy.
    ///
    /// `nil` if the clock is not ahead.
    var trouble: String? {
        guard isClockAhead else { return nil }
        return
            "clockAhead: this machine's clock says \(UTCTime.text(clock.now)), and only \(UTCTime.text(now)) is proven "
            + "to have passed; nothing is deleted by that clock until two issuers, or the only one, have signed such a time, "
            + "or, with the agent stopped, oob-agent --accept-clock takes it as it is"
    }

    /// Adopts the time in the store, if that is later.
    func adopt(_ stored: ProvenMoment) {
        state.withLock { state in
            if !state.isKept || stored.isLater(than: current(state)) { set(&state, stored) }
            state.isKept = true
        }
    }

    /// Follows the clock while the store has no data whose age would count.
    func followClock() {
        state.withLock { if !$0.isKept { set(&$0, ProvenMoment(at: clock.now)) } }
    }

    private func set(_ state: inout State, _ moment: ProvenMoment) {
        (state.moment, state.running) = (moment, clock.running)
    }

    /// Records an `iat` that an issuer has signed.
    ///
    /// A time ahead of the clock proves no time.
    func record(iat: Int64, by issuer: IssuerURL) {
        let now = clock.now
        guard iat <= now.later(by: AuthnRequestReader.clockTolerance) else { return }
        state.withLock { state in
            var signed = state.signed.filter { $0.issuer != issuer }
            let known = state.signed.first { $0.issuer == issuer }?.at ?? .min
            signed.append((issuer, max(known, min(iat, now))))
            state.signed = Array(signed.sorted { $0.at > $1.at }.prefix(2))
        }
    }

    /// The issuer of the greatest `iat`, if that is later than the proven time.
    var witness: IssuerURL? {
        state.withLock { state in
            state.signed.first.flatMap { $0.at > current(state).at ? $0.issuer : nil }
        }
    }

    /// Moves up to the time that the issuers have proven.
    ///
    /// - Parameter only: the only issuer with active enrollments, whose word is then enough. `nil` if two issuers are
    ///   needed.
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
