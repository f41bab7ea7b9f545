import Testing
import TextAndTime
import ThreeDS

struct TransactionTextTests {
    private static func text(
        _ transaction: Transaction, issuer: String = "https://issuer.example", enrollment: String = "My card",
        payeeOrigin: String? = nil, instrument: String? = nil, icon: String? = nil, warnings: [Warning] = []
    ) -> TransactionText {
        TransactionText(
            transaction: transaction, issuer: issuer, enrollment: enrollment, expiresAt: 1_697_522_798,
            payeeOrigin: payeeOrigin, instrument: instrument, icon: icon, warnings: warnings,
            localTime: LocalTime { _ in (7_200, "CEST") })
    }

    private static func labels(_ text: TransactionText) -> [String] {
        text.text.split(separator: "\n", omittingEmptySubsequences: false).map { String($0.prefix { $0 != ":" }) }
    }

    @Test func `a payment is shown whole, the most important first`() throws {
        let transaction = try Fixture.transaction(["Amount": "USD 0.01", "note": ""])
        let warning = Warning(id: "any", message: "Look twice.", severity: .low)
        let text = Self.text(
            transaction, payeeOrigin: "https://merchant.example", instrument: "Visa 4242", icon: "issuer.example",
            warnings: [warning])
        #expect(
            text.text == """
                Amount:     USD 1.00
                Merchant:   CoffeeHouse2 (Dæmø)
                Payee:      https://merchant.example
                Date:       2023-10-17 07:56:38 CEST (+02:00)
                Issuer:     https://issuer.example
                Enrollment: My card
                Instrument: Visa 4242
                Icon:       issuer.example
                Expires:    2023-10-17 08:06:38 CEST (+02:00)
                Warning:    Look twice.
                Return URL: https://merchant.example/return?transID=1
                acsTransId: 2f37539c-d82e-4929-88db-2f9e72c7fa62
                Member Amount: USD 0.01
                Member note:
                """)
        #expect(text.question == "Approve USD 1.00 to CoffeeHouse2 (Dæmø)?")
    }

    @Test func `what is not there has no line`() throws {
        let text = Self.text(try Fixture.transaction(["threeDSRequestorAppURL": nil]))
        #expect(
            Self.labels(text) == ["Amount", "Merchant", "Date", "Issuer", "Enrollment", "Expires", "acsTransId"])
    }

    @Test func `without the purchase members the amount says that nothing is paid`() throws {
        let members = Fixture.members.filter { !$0.name.hasPrefix("purchase") }
        let text = Self.text(try Transaction(members: members))
        #expect(text.text.hasPrefix("Amount:     none (not a payment)\nMerchant:   CoffeeHouse2 (Dæmø)\nIssuer:"))
        #expect(text.question == "Approve this authentication (not a payment) for CoffeeHouse2 (Dæmø)?")
    }

    static let hostileValues = [
        "x\nAmount:     USD 0.01", "x\r\nAmount: 1", "x\u{85}Amount: 1", "x\u{2028}Amount: 1", "x\u{2029}Amount: 1",
        "x\u{B}Amount: 1", "x\u{C}Amount: 1", "\u{1B}[1AAmount: 1", "\u{8}\u{8}\u{8}", "\u{202E}00.0 DSU", "\u{301}",
        "\n\n\n", " ", #"\n"#, String(repeating: " ", count: 40),
    ]

    @Test(arguments: hostileValues)
    func `no value starts a line, reaches another or leaves a space at its end`(value: String) throws {
        let transaction = try Fixture.transaction(["merchantName": value, "a": value, "b": value])
        let warnings = [Warning(id: value, message: value, severity: .high)]
        let text = Self.text(
            transaction, issuer: value, enrollment: value, payeeOrigin: value, instrument: value, icon: value,
            warnings: warnings)
        #expect(
            Self.labels(text) == [
                "Amount", "Merchant", "Payee", "Date", "Issuer", "Enrollment", "Instrument", "Icon", "Expires",
                "Warning", "Return URL", "acsTransId", "Member a", "Member b",
            ])
        #expect(text.text.unicodeScalars.allSatisfy { $0 == "\n" || (0x20...0x7E).contains($0.value) })
        #expect(!text.text.contains(" \n"))
        #expect(!text.text.hasSuffix(" "))
        #expect(text.text.contains("Merchant:   \(DisplayText(value).text)\nPayee:      "))
        #expect(text.question == "Approve USD 1.00 to \(DisplayText(value).text)?")
    }

    @Test(arguments: [
        ("352", "2", "ISK 1.00 (check the decimals: ISK has 0)"),
        ("994", "2", "XSU 1.00 (check the decimals: XSU has no number of them)"),
        ("990", "4", "CLF 0.0100 (a fund code)"),
        ("990", "2", "CLF 1.00 (check the decimals: CLF has 4) (a fund code)"),
    ])
    func `a warning about the amount stands beside it too`(currency: String, exponent: String, amount: String) throws {
        let transaction = try Fixture.transaction(["purchaseCurrency": currency, "purchaseExponent": exponent])
        let warnings = try transaction.warnings(under: .warn)
        let text = Self.text(transaction, warnings: warnings)
        #expect(text.text.hasPrefix("Amount:     \(amount)\n"))
        #expect(Self.labels(text).filter { $0 == "Warning" }.count == warnings.count)
    }

    @Test(arguments: Fixture.members.map(\.name) + ["other"])
    func `any change of a member changes the text`(name: String) throws {
        let changed = [
            "acsTransId": "3f37539c-d82e-4929-88db-2f9e72c7fa62", "merchantName": "CoffeeHouse3",
            "purchaseAmount": "101", "purchaseCurrency": "978", "purchaseExponent": "1",
            "purchaseDate": "20231017055639", "threeDSRequestorAppURL": "https://merchant.example/return?transID=2",
            "other": "value",
        ]
        let value = try #require(changed[name])
        #expect(Self.text(try Fixture.transaction([name: value])).text != Self.text(try Fixture.transaction()).text)
    }
}
