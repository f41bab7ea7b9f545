import TextAndTime
internal import ThreeDS

/// Checks of the texts of expectations, made before anything is sent.
package enum Expectation {
    /// Returns why a text is not an expected amount, and what is allowed.
    ///
    /// `nil` if it is one.
    ///
    /// A currency that has decimals requires all of them: `USD 1` is not read as `USD 1.00`.
    package static func problem(withAmount text: String) -> String? {
        do throws(ExpectedAmountError) {
            _ = try ExpectedAmount(text)
        } catch {
            return "\(error)"
        }
        guard !text.utf8.contains(UInt8(ascii: ".")), let decimals = isoDecimals(of: text), decimals > 0 else {
            return nil
        }
        let example = text + "." + String(repeating: "0", count: decimals)
        return "this currency has \(decimals) decimals: write all of them, such as \"\(example)\""
    }

    /// Returns why a text is not an acsTransId.
    ///
    /// `nil` if it is one.
    package static func problem(withAcsTransId text: String) -> String? {
        ACSTransactionID(text) == nil ? "an acsTransId is a UUID of 36 characters" : nil
    }

    private static func isoDecimals(of text: String) -> Int? {
        Currency.alphabetic(text.beginning(bytes: 3))?.minorUnit
    }
}
