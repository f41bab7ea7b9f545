import Records
import TextAndTime

/// Whether this machine's clock can be right.
///
/// A clock that is behind is warned of and not refused: a machine without a battery for it is put right by the network
/// some time after its start, and the issuer ends what has expired in any case.
enum ClockCheck {
    /// 2026-01-01, before the first release of this program.
    static let floor: Int64 = 1_767_225_600
    /// How far, in seconds, a clock may be put back without a word.
    static let tolerance: Int64 = 300

    /// - Parameter newest: the newest time in the store; seconds since 1970.
    static func finding(now: Int64, newest: Int64?) -> Finding? {
        let least = max(floor, (newest ?? floor) - tolerance)
        guard now < least else { return nil }
        let known = UTCTime.text(max(floor, newest ?? floor))
        return Finding(
            .clockBehind,
            "this machine's clock says \(UTCTime.text(now)), which cannot be: it was \(known) already; requests "
                + "seem to live longer than they do; set the clock")
    }
}
