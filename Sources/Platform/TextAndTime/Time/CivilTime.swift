/// A date and time of day in the proleptic Gregorian calendar, without a zone.
package struct CivilTime: Equatable, Sendable {
    /// The seconds since 1970 for years of four digits, 0001 to 9999.
    package static let secondsRange: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    let year, month, day, hour, minute, second: Int

    /// Makes a date of the years 1 to 9999 and a time from 00:00:00 to 23:59:59.
    ///
    /// Returns `nil` if the date or the time does not exist.
    init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        guard (1...9_999).contains(year), (1...12).contains(month) else { return nil }
        guard (1...Self.days(in: month, of: year)).contains(day) else { return nil }
        guard (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second) else { return nil }
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    /// Reads 14 ASCII digits, YYYYMMDDHHMMSS, or returns `nil` if they are not such a date and time.
    package init?(digits: String) {
        guard digits.utf8.count == 14, digits.isASCIIDigits else { return nil }
        let numbers = digits.utf8.map { Int($0 - UInt8(ascii: "0")) }
        func number(_ places: Range<Int>) -> Int { numbers[places].reduce(0) { $0 * 10 + $1 } }
        self.init(
            year: number(0..<4), month: number(4..<6), day: number(6..<8),
            hour: number(8..<10), minute: number(10..<12), second: number(12..<14))
    }

    /// Makes the date and time of seconds since 1970, or returns `nil` outside `secondsRange`.
    package init?(secondsSince1970: Int64) {
        guard Self.secondsRange.contains(secondsSince1970) else { return nil }
        let days = (secondsSince1970 - Self.positiveRemainder(secondsSince1970, 86_400)) / 86_400
        let ofDay = Int(Self.positiveRemainder(secondsSince1970, 86_400))
        let (year, month, day) = Self.date(daysSince1970: Int(days))
        self.init(
            year: year, month: month, day: day, hour: ofDay / 3_600, minute: ofDay / 60 % 60, second: ofDay % 60)
    }

    /// The seconds since 1970 if this is a time in UTC.
    package var secondsSince1970: Int64 {
        Int64(daysSince1970) * 86_400 + Int64(hour * 3_600 + minute * 60 + second)
    }

    /// The date as "2023-10-17".
    var dateText: String {
        Self.twoDigits(year / 100) + Self.twoDigits(year % 100) + "-" + Self.twoDigits(month) + "-"
            + Self.twoDigits(day)
    }

    /// The time of day as "05:56:38".
    var timeText: String {
        Self.twoDigits(hour) + ":" + Self.twoDigits(minute) + ":" + Self.twoDigits(second)
    }

    /// The date and time in RFC 3339's form for UTC: "2023-10-17T05:56:38Z".
    package var rfc3339: String { "\(dateText)T\(timeText)Z" }

    /// - Parameter number: 0 to 99.
    static func twoDigits(_ number: Int) -> String { texts[number] }

    private static let texts = (0..<100).map { $0 < 10 ? "0\($0)" : "\($0)" }

    static func days(in month: Int, of year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return switch month {
        case 2: isLeap ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func positiveRemainder(_ value: Int64, _ modulus: Int64) -> Int64 {
        let remainder = value % modulus
        return remainder < 0 ? remainder + modulus : remainder
    }
}

// Years are counted from March here, so that the leap day is the last day of a year. Days are counted from 1 March of
// year 0; 1970-01-01 is day 719,468 of that count. All numbers are positive for the years 1 to 9999.
extension CivilTime {
    private var daysSince1970: Int {
        let marchYear = month > 2 ? year : year - 1
        let marchMonth = (month + 9) % 12
        let leapDays = marchYear / 4 - marchYear / 100 + marchYear / 400
        return marchYear * 365 + leapDays + (marchMonth * 153 + 2) / 5 + day - 1 - 719_468
    }

    private static func date(daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
        let days = daysSince1970 + 719_468
        let (era, dayOfEra) = days.quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (dayOfYear * 5 + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (marchMonth * 153 + 2) / 5 + 1)
    }
}
