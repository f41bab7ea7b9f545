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
