import TextAndTime

/// The time of the purchase: EMV 3-D Secure's purchaseDate, YYYYMMDDHHMMSS in UTC.
package struct PurchaseDate: Sendable, Equatable {
    private let time: CivilTime

    /// Parses 14 ASCII digits of a real date and time.
    ///
    /// `nil` for 30 February, 24:00:00 or a leap second.
    package init?(_ digits: String) {
        guard let time = CivilTime(digits: digits) else { return nil }
        self.time = time
    }

    /// The date in RFC 3339 form: "2023-10-17T05:56:38Z".
    package var rfc3339: String { time.rfc3339 }

    package var secondsSince1970: Int64 { time.secondsSince1970 }
}
