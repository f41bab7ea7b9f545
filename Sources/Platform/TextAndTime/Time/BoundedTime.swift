/// Bounds for times that others chose, so that arithmetic with them is safe.
///
/// Such times are an issuer's claim, or a row of a file.
///
/// They are bounded where they come in. The arithmetic below is bounded as well, so an unbounded time that was let
/// through by mistake gives a wrong figure, and never ends the process.
package enum BoundedTime {
    /// The seconds since 1970 up to the end of the year 9999.
    package static let range: ClosedRange<Int64> = 0...253_402_300_799

    /// Returns the time, or the end of ``range`` that is nearest to it.
    ///
    /// This changes no decision: a time before 1970 is as far in the past as 1970, and a time after 9999 as far ahead
    /// as 9999.
    package static func nearest(_ secondsSince1970: Int64) -> Int64 {
        min(max(secondsSince1970, range.lowerBound), range.upperBound)
    }
}

extension Int64 {
    /// Returns the seconds from another time to this one, negative if this is the earlier, within Int64.
    package func seconds(since other: Int64) -> Int64 {
        let (seconds, isOverflow) = subtractingReportingOverflow(other)
        guard isOverflow else { return seconds }
        return self > other ? .max : .min
    }

    /// Returns the time that is `seconds` after this one, within Int64.
    package func later(by seconds: Int64) -> Int64 {
        let (time, isOverflow) = addingReportingOverflow(seconds)
        guard isOverflow else { return time }
        return seconds > 0 ? .max : .min
    }
}
