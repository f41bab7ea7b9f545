import Records
import TextAndTime

/// Check that this machine's clock is not behind.
///
/// A clock that is behind causes a warning, not a refusal. A machine without a battery for its clock gets the time from
/// the network some time after its start. The issuer ends expired requests in any case.
enum ClockCheck {
    /// 2026-01-01, before the first release of this program.
    static let floor: Int64 = 1_767_225_600
    /// The seconds by which a clock may be set back without a finding.
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
