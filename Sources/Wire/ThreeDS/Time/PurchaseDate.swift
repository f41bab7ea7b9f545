/// When the purchase was made: EMV 3-D Secure's purchaseDate, YYYYMMDDHHMMSS in UTC.
package struct PurchaseDate: Sendable, Equatable {
    private let time: CivilTime

    /// Takes 14 ASCII digits that are a real date and time; nil for 30 February, 24:00:00 or a leap second.
    package init?(_ digits: String) {
        guard digits.utf8.count == 14, digits.isASCIIDigits else { return nil }
        let numbers = digits.utf8.map { Int($0 - UInt8(ascii: "0")) }
        func number(_ places: Range<Int>) -> Int { numbers[places].reduce(0) { $0 * 10 + $1 } }
        let time = CivilTime(
            year: number(0..<4), month: number(4..<6), day: number(6..<8),
            hour: number(8..<10), minute: number(10..<12), second: number(12..<14))
        guard let time else { return nil }
        self.time = time
    }

    /// The date as RFC 3339 writes it: "2023-10-17T05:56:38Z".
    package var rfc3339: String { "\(time.dateText)T\(time.timeText)Z" }

    package var secondsSince1970: Int64 { time.secondsSince1970 }
}

/// Writes instants as RFC 3339 in UTC, whole seconds.
package enum UTCTime {
    /// Such as "2023-10-17T05:56:38Z"; an instant outside the years 1 to 9999 is written as the nearest inside.
    package static func text(_ secondsSince1970: Int64) -> String {
        let range = CivilTime.secondsRange
        let inside = min(max(secondsSince1970, range.lowerBound), range.upperBound)
        guard let time = CivilTime(secondsSince1970: inside) else { return "" }
        return "\(time.dateText)T\(time.timeText)Z"
    }

    /// The seconds since 1970 that ``text(_:)`` wrote so; nil for any other text.
    package static func seconds(_ text: String) -> Int64? {
        let digits = String(decoding: text.utf8.filter { (0x30...0x39).contains($0) }, as: UTF8.self)
        guard let time = PurchaseDate(digits), time.rfc3339.utf8.elementsEqual(text.utf8) else { return nil }
        return time.secondsSince1970
    }
}
