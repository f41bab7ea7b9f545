/// The field `Retry-After` (RFC 9110 §10.2.3): seconds, or a date.
package enum RetryAfter {
    /// The maximum result, in seconds.
    ///
    /// A longer delay is cut to it.
    package static let limit: Int64 = 3_600

    /// Returns the seconds from `now` (since 1970), 0 to 3,600.
    ///
    /// `nil` if the value has neither form.
    package static func seconds(_ value: String, now: Int64) -> Int64? {
        if !value.isEmpty, value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // A number too large for Int64 is more than an hour.
            return min(Int64(value) ?? limit, limit)
        }
        guard let date = HTTPDate.secondsSince1970(value) else { return nil }
        // Compare first: `date - now` could overflow if the clock is far off.
        return date <= now ? 0 : date - limit > now ? limit : date - now
    }
}

/// Dates in HTTP, in the three forms that a recipient must accept (RFC 9110 §5.6.7).
enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Parses a date.
    ///
    /// Returns `nil` if the text has the fields of none of the forms. The name of the weekday and the choice of
    /// separators are not checked.
    static func secondsSince1970(_ text: String) -> Int64? {
        guard text.utf8.count <= 64 else { return nil }
        let words = text.split { " ,-:".contains($0) }
        switch words.count {
        case 8 where words[7] == "GMT":  // Sun, 06 Nov 1994 08:49:37 GMT; Sunday, 06-Nov-94 08:49:37 GMT
            return seconds(year: words[3], month: words[2], day: words[1], time: words[4...6])
        case 7:  // Sun Nov  6 08:49:37 1994
            return seconds(year: words[6], month: words[1], day: words[2], time: words[3...5])
        default: return nil
        }
    }

    private static func seconds(
        year: Substring, month: Substring, day: Substring, time: ArraySlice<Substring>
    ) -> Int64? {
        let time = time.compactMap { number($0, in: 0...60) }
        guard let year = number(year, in: 0...9_999), let month = months.firstIndex(of: String(month)),
            let day = number(day, in: 1...31), time.count == 3, time[0] < 24, time[1] < 60
        else { return nil }
        let days = daysSince1970(year: century(of: year) + year, month: Int64(month) + 1, day: day)
        return ((days * 24 + time[0]) * 60 + time[1]) * 60 + time[2]
    }

    private static func number(_ text: Substring, in range: ClosedRange<Int64>) -> Int64? {
        Int64(text).flatMap { range.contains($0) ? $0 : nil }
    }

    /// Returns the years to add to a year: 2,000 if it is below 70, 1,900 if it is 70 to 99, else 0.
    private static func century(of year: Int64) -> Int64 { year >= 100 ? 0 : year < 70 ? 2_000 : 1_900 }

    /// Counts days in the proleptic Gregorian calendar.
    ///
    /// Years are counted from March, so that a leap day comes last.
    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return 365 * year + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }
}
