import Testing
import ThreeDS

struct ExponentPolicyTests {
    @Test(arguments: ExponentPolicy.allCases)
    func `a transaction in order has no warnings`(policy: ExponentPolicy) throws {
        #expect(try Fixture.transaction().warnings(under: policy) == [])
    }

    @Test(arguments: ExponentPolicy.allCases)
    func `a transaction that is no payment has no exponent to look at`(policy: ExponentPolicy) throws {
        let members = Fixture.members.filter { !$0.name.hasPrefix("purchase") }
        #expect(try Transaction(members: members).warnings(under: policy) == [])
    }

    @Test(arguments: [("352", "2"), ("392", "2"), ("840", "0"), ("840", "3"), ("414", "2"), ("990", "2")])
    func `an exponent that is not ISO 4217's is refused by default`(currency: String, exponent: String) throws {
        let transaction = try Fixture.transaction(["purchaseCurrency": currency, "purchaseExponent": exponent])
        let refusal = #expect(throws: TransactionRefusal.self) { try transaction.warnings(under: .refuse) }
        #expect(refusal?.code == .exponentMismatch)
        #expect(refusal?.code.isPolicy == true)
        #expect(try transaction.warnings(under: .warn).first?.id == "exponentMismatch")
        #expect(try transaction.warnings(under: .warn).first?.severity == .high)
    }

    @Test(arguments: ["965", "994"], ["0", "2"])
    func `an exponent that ISO 4217 does not have is refused by default`(currency: String, exponent: String) throws {
        let transaction = try Fixture.transaction(["purchaseCurrency": currency, "purchaseExponent": exponent])
        let refusal = #expect(throws: TransactionRefusal.self) { try transaction.warnings(under: .refuse) }
        #expect(refusal?.code == .exponentUndefined)
        #expect(refusal?.code.isPolicy == true)
        #expect(try transaction.warnings(under: .warn).map(\.id) == ["exponentUndefined"])
    }

    @Test func `the exponent that came is the one that is shown`() throws {
        let transaction = try Fixture.transaction(["purchaseCurrency": "352", "purchaseExponent": "2"])
        #expect(transaction.purchase?.display == "ISK 1.00")
        #expect(
            try transaction.warnings(under: .warn).map(\.message) == ["purchaseExponent is 2; ISO 4217 gives ISK 0"])
    }

    @Test(arguments: [("990", "4"), ("940", "0"), ("997", "2")])
    func `a fund code is warned of, and never refused`(currency: String, exponent: String) throws {
        let transaction = try Fixture.transaction(["purchaseCurrency": currency, "purchaseExponent": exponent])
        #expect(try transaction.warnings(under: .refuse).map(\.id) == ["fundCode"])
    }

    @Test func `hostile text is warned of once for each member, by name`() throws {
        let transaction = try Fixture.transaction(["merchantName": "a\u{202E}b\u{202E}", "one": "\n", "two": "é \\"])
        let warnings = try transaction.warnings(under: .refuse)
        #expect(warnings.map(\.id) == ["hostileText", "hostileText"])
        #expect(warnings.map { $0.message.prefix { $0 != " " } } == ["merchantName", "one"])
    }

    @Test func `only the exponent's codes are matters of policy`() {
        #expect(TransactionRefusal.Code.allCases.filter(\.isPolicy) == [.exponentMismatch, .exponentUndefined])
    }
}
