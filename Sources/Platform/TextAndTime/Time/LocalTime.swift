/// A formatter of times in the agent's zone.
///
/// The zone's rules come from outside, because this target has no clock and no time zones.
package struct LocalTime: Sendable {
    private let offset: @Sendable (Int64) -> (seconds: Int, abbreviation: String)

    /// - Parameter offset: for a time in seconds since 1970, returns the seconds that local time is ahead of UTC, and
    ///   the zone's abbreviation at that time, such as "CEST".
    package init(offset: @escaping @Sendable (Int64) -> (seconds: Int, abbreviation: String)) {
        self.offset = offset
    }

    package static let utc = LocalTime { _ in (0, "UTC") }

    /// Returns the time as "2023-10-17 07:56:38 CEST (+02:00)".
    ///
    /// An offset of more than a day is not believed: then the time is written in UTC. It is written in UTC also if
    /// local time is outside the years 1 to 9999. If UTC is outside too, the number of seconds is written.
    package func text(_ secondsSince1970: Int64) -> String {
        // The zone's rules are not called for a time that has no date.
        guard CivilTime.secondsRange.contains(secondsSince1970) else { return Self.number(secondsSince1970) }
        let (seconds, abbreviation) = offset(secondsSince1970)
        return Self.written(secondsSince1970, offset: seconds, abbreviation)
            ?? Self.written(secondsSince1970, offset: 0, "UTC")
            ?? Self.number(secondsSince1970)
    }

    /// Returns `nil` for an offset of more than a day, and if local time is outside the years 1 to 9999.
    private static func written(_ time: Int64, offset: Int, _ abbreviation: String) -> String? {
        guard (-86_400...86_400).contains(offset) else { return nil }
        guard let local = CivilTime(secondsSince1970: time + Int64(offset)) else { return nil }
        return "\(local.dateText) \(local.timeText) \(DisplayText(abbreviation).text) (\(signed(offset)))"
    }

    private static func number(_ time: Int64) -> String {
        "\(time) seconds since 1970-01-01 00:00:00 UTC"
    }

    /// Returns the offset as "+02:00", with its seconds if it has some, as local mean times do.
    private static func signed(_ offset: Int) -> String {
        let (minutes, seconds) = abs(offset).quotientAndRemainder(dividingBy: 60)
        let hoursAndMinutes = CivilTime.twoDigits(minutes / 60) + ":" + CivilTime.twoDigits(minutes % 60)
        let text = seconds == 0 ? hoursAndMinutes : hoursAndMinutes + ":" + CivilTime.twoDigits(seconds)
        return (offset < 0 ? "-" : "+") + text
    }
}
