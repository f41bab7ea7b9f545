/// A formatter of instants as RFC 3339 in UTC, in whole seconds.
package enum UTCTime {
    /// Returns a text such as "2023-10-17T05:56:38Z".
    ///
    /// An instant outside the years 1 to 9999 is written as the nearest inside.
    package static func text(_ secondsSince1970: Int64) -> String {
        let range = CivilTime.secondsRange
        let inside = min(max(secondsSince1970, range.lowerBound), range.upperBound)
        return CivilTime(secondsSince1970: inside)?.rfc3339 ?? ""
    }

    /// Returns the seconds since 1970 of a text from ``text(_:)``, or `nil` for any other text.
    package static func seconds(_ text: String) -> Int64? {
        let digits = String(decoding: text.utf8.filter(\.isASCIIDigit), as: UTF8.self)
        guard let time = CivilTime(digits: digits), time.rfc3339.hasBytes(of: text) else { return nil }
        return time.secondsSince1970
    }
}
