import Testing
import ThreeDS

struct PurchaseTests {
    @Test(arguments: [
        ("100", "2", "1.00"), ("1", "2", "0.01"), ("0", "2", "0.00"), ("0012345", "2", "123.45"), ("000", "0", "0"),
        ("007", "0", "7"), ("12", "1", "1.2"), ("5", "9", "0.000000005"), ("1000000000", "9", "1.000000000"),
        (String(repeating: "0", count: 48), "3", "0.000"),
        (String(repeating: "9", count: 48), "2", String(repeating: "9", count: 46) + ".99"),
    ])
    func `major units have exactly the decimals that came`(amount: String, exponent: String, value: String) throws {
        let purchase = try Fixture.transaction(["purchaseAmount": amount, "purchaseExponent": exponent]).purchase
        #expect(purchase?.majorUnits == value)
    }

    @Test(arguments: [
        ("100", "2", "USD 1.00"), ("999999", "2", "USD 9999.99"), ("1000000", "2", "USD 10 000.00"),
        ("1234500", "2", "USD 12 345.00"), ("123456789", "0", "USD 123 456 789"), ("9999", "0", "USD 9999"),
        ("1234567", "4", "USD 123.4567"),
    ])
    func `an amount is grouped above 9999`(amount: String, exponent: String, text: String) throws {
        let purchase = try Fixture.transaction(["purchaseAmount": amount, "purchaseExponent": exponent]).purchase
        #expect(purchase?.display == text)
    }

    @Test(arguments: [("0", "0"), ("000", "0"), ("0120", "120"), ("9", "9")])
    func `minor units have no leading zeros`(digits: String, minorUnits: String) {
        #expect(PurchaseAmount(digits)?.minorUnits == minorUnits)
    }

    @Test(arguments: [
        ("20231017055638", "2023-10-17T05:56:38Z", 1_697_522_198), ("19700101000000", "1970-01-01T00:00:00Z", 0),
        ("19691231235959", "1969-12-31T23:59:59Z", -1), ("20240229120000", "2024-02-29T12:00:00Z", 1_709_208_000),
        ("20000301000000", "2000-03-01T00:00:00Z", 951_868_800),
        ("00010101000000", "0001-01-01T00:00:00Z", -62_135_596_800),
        ("99991231235959", "9999-12-31T23:59:59Z", 253_402_300_799),
    ])
    func `a date is written as RFC 3339 and counted from 1970`(digits: String, text: String, seconds: Int64) throws {
        let date = try #require(PurchaseDate(digits))
        #expect(date.rfc3339 == text)
        #expect(date.secondsSince1970 == seconds)
    }
}

struct ExpectedAmountTests {
    @Test(arguments: [
        ("USD 1.00", "100", "2", true), ("USD 1.00", "0100", "2", true), ("USD 1.00", "101", "2", false),
        ("USD 1.0", "10", "1", true), ("USD 1.0", "100", "2", false), ("USD 1", "100", "2", false),
        ("USD 1.000", "100", "2", false), ("EUR 1.00", "100", "2", false), ("USD 0", "000", "0", true),
        ("USD 12345.00", "1234500", "2", true), ("USD 12 345.00", "1234500", "2", true),
        ("USD 0.000000001", "1", "9", true),
    ])
    func `an expectation holds digit for digit`(expected: String, amount: String, exponent: String, holds: Bool) throws
    {
        let purchase = try Fixture.transaction(["purchaseAmount": amount, "purchaseExponent": exponent]).purchase
        #expect(try ExpectedAmount(expected).holds(for: purchase) == holds)
    }

    @Test func `no expectation holds if nothing is paid`() throws {
        #expect(try !ExpectedAmount("USD 0").holds(for: nil))
    }

    @Test func `48 digits can be expected, not 49`() throws {
        let digits = String(repeating: "9", count: 48)
        let purchase = try Fixture.transaction(["purchaseAmount": digits, "purchaseExponent": "0"]).purchase
        #expect(try ExpectedAmount("USD \(digits)").holds(for: purchase))
        #expect(throws: ExpectedAmountError.amount) { try ExpectedAmount("USD \(digits)9") }
        #expect(throws: ExpectedAmountError.amount) { try ExpectedAmount("USD \(digits).9") }
    }

    @Test(arguments: [
        "", "1.00", "usd 1.00", "USD1.00", "XYZ 1.00", "US 1.00", "$ 1.00", "840 1.00", "\u{212A}WD 1.000",
    ])
    func `an amount without a listed code is no expectation`(text: String) {
        #expect(throws: ExpectedAmountError.currency) { try ExpectedAmount(text) }
    }

    @Test(arguments: [
        "USD ", "USD  1.00", "USD .50", "USD 1.", "USD 01.00", "USD 00", "USD -1.00", "USD 1,00", "USD 1.00 ",
        "USD 1.0.0", "USD 1 00.00", "USD 1 000.00", "USD 12 34.00", "USD 12  345.00", "USD 1.0000000000", "USD １.00",
        "USD 1e3",
    ])
    func `an amount in another form is no expectation`(text: String) {
        #expect(throws: ExpectedAmountError.amount) { try ExpectedAmount(text) }
    }

    @Test(arguments: [ExpectedAmountError.currency, .amount])
    func `the error says what is allowed`(error: ExpectedAmountError) {
        #expect(error.description.contains(#""USD 1.00""#))
    }
}
