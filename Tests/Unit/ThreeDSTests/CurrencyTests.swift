import Foundation
import Testing
import ThreeDS

struct CurrencyTests {
    @Test(arguments: [
        ("USD", "840", 2, false), ("JPY", "392", 0, false), ("KWD", "414", 3, false), ("ISK", "352", 0, false),
        ("HUF", "348", 2, false), ("CLF", "990", 4, true), ("UYI", "940", 0, true), ("UYW", "927", 4, false),
        ("ALL", "008", 2, false), ("XAU", "959", nil, false), ("XSU", "994", nil, false), ("XXX", "999", nil, false),
    ])
    func `a currency is found by both codes`(alphabetic: String, numeric: String, decimals: Int?, isFund: Bool) throws {
        let currency = try #require(Currency.numeric(numeric))
        #expect(currency.alphabetic == alphabetic)
        #expect(currency.minorUnit == decimals)
        #expect(currency.isFund == isFund)
        #expect(Currency.alphabetic(alphabetic) == currency)
    }

    @Test(arguments: ["", "84", "0840", "841", "usd", "USD", "٨٤٠", "８４０", " 840", "840 "])
    func `what is no numeric code finds nothing`(code: String) {
        #expect(Currency.numeric(code) == nil)
    }

    @Test(arguments: ["", "US", "USDD", "usd", "840", "\u{212A}WD", "K\u{200D}WD", "ＵＳＤ"])
    func `what is no alphabetic code finds nothing`(code: String) {
        #expect(Currency.alphabetic(code) == nil)
    }

    @Test func `the table is the published list, row by row`() throws {
        let published = try PublishedList.read()
        #expect(Currency.publicationDate == published.date)
        #expect(Currency.all.count == published.rows.count)
        for currency in Currency.all {
            #expect(published.rows[currency.numeric] == PublishedList.Row(currency), "\(currency.numeric)")
        }
    }

    @Test func `the table is sorted by numeric code`() {
        let codes = Currency.all.map(\.numeric)
        #expect(codes == codes.sorted())
    }

    @Test func `955 to 964 and 999 are not for purchases, and no others`() {
        let excluded = Currency.all.filter { !$0.isAllowedForPurchases }.map(\.numeric)
        #expect(excluded == (955...964).map(String.init) + ["999"])
    }
}

/// The agency's XML, read here by other means than the generator's.
private struct PublishedList {
    struct Row: Equatable {
        let alphabetic: String
        let minorUnit: String
        let isFund: Bool

        init(alphabetic: String, minorUnit: String, isFund: Bool) {
            self.alphabetic = alphabetic
            self.minorUnit = minorUnit
            self.isFund = isFund
        }

        init(_ currency: Currency) {
            self.init(
                alphabetic: currency.alphabetic, minorUnit: currency.minorUnit.map(String.init) ?? "N.A.",
                isFund: currency.isFund)
        }
    }

    let date: String
    let rows: [String: Row]

    static func read() throws -> PublishedList {
        let file = Fixture.root.appending(path: "Data/iso4217-list-one-2026-01-01.xml")
        let text = try String(contentsOf: file, encoding: .utf8)
        let date = try #require(text.firstMatch(of: /Pblshd="([0-9-]+)"/))
        var rows: [String: Row] = [:]
        for entry in text.components(separatedBy: "<CcyNtry>").dropFirst() {
            guard let alphabetic = entry.firstMatch(of: /<Ccy>(.*?)<\/Ccy>/) else { continue }
            let numeric = try #require(entry.firstMatch(of: /<CcyNbr>(.*?)<\/CcyNbr>/))
            let minorUnit = try #require(entry.firstMatch(of: /<CcyMnrUnts>(.*?)<\/CcyMnrUnts>/))
            rows[String(numeric.1)] = Row(
                alphabetic: String(alphabetic.1), minorUnit: String(minorUnit.1),
                isFund: entry.contains(#"IsFund="true""#))
        }
        return PublishedList(date: String(date.1), rows: rows)
    }
}
