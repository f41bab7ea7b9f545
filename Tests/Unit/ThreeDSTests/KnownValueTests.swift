import Testing
import ThreeDS

struct KnownValueTests {
    @Test(arguments: [
        "2f37539c-d82e-4929-88db-2f9e72c7fa62", "2F37539C-D82E-4929-88DB-2F9E72C7FA62",
        "00000000-0000-0000-0000-000000000000",
    ])
    func `a UUID is an acsTransId, in any case`(text: String) throws {
        let id = try #require(ACSTransactionID(text))
        #expect(id.text == text)
        #expect(id.canonical == text.lowercased())
    }

    @Test func `acsTransIds are equal without regard to case`() throws {
        let lower = try #require(ACSTransactionID("2f37539c-d82e-4929-88db-2f9e72c7fa62"))
        let upper = try #require(ACSTransactionID("2F37539C-D82E-4929-88DB-2F9E72C7FA62"))
        let other = try #require(ACSTransactionID("2f37539c-d82e-4929-88db-2f9e72c7fa63"))
        #expect(lower == upper)
        #expect(Set([lower, upper, other]).count == 2)
    }

    @Test(arguments: [
        "", "2f37539c-d82e-4929-88db-2f9e72c7fa6", "2f37539c-d82e-4929-88db-2f9e72c7fa622",
        "2f37539cd82e492988db2f9e72c7fa62", "{2f37539c-d82e-4929-88db-2f9e72c7fa62}",
        "2f37539c-d82e-4929-88db-2f9e72c7fa6g", "2f37539c-d82e-4929-88db-2f9e72c7fa6`",
        "2f37539c-d82e-4929-88db02f9e72c7fa62", "-f37539c-d82e-4929-88db-2f9e72c7fa62",
        " 2f37539c-d82e-4929-88db-2f9e72c7fa62", "2f37539c-d82e-4929-88db-2f9e72c7fa６",
    ])
    func `anything else is no acsTransId`(text: String) {
        #expect(ACSTransactionID(text) == nil)
        #expect(Fixture.refusal(["acsTransId": text])?.code == .acsTransId)
    }

    @Test(arguments: [
        (1, "x", true), (40, "x", true), (41, "x", false), (0, "x", false), (40, "🛒", true), (41, "🛒", false),
        (20, "e\u{301}", true), (21, "e\u{301}", false), (1, "\0", true), (1, " ", true),
    ])
    func `a merchantName has 1 to 40 scalars`(count: Int, text: String, isAllowed: Bool) {
        let refusal = Fixture.refusal(["merchantName": String(repeating: text, count: count)])
        #expect(refusal?.code == (isAllowed ? nil : .merchantName))
    }

    @Test func `one character of 41 scalars is too long for a merchantName`() {
        let name = "x" + String(repeating: "\u{301}", count: 40)
        #expect(name.count == 1)
        #expect(Fixture.refusal(["merchantName": name])?.code == .merchantName)
    }

    @Test(arguments: ["0", "9", "0012345", String(repeating: "9", count: 48), String(repeating: "0", count: 48)])
    func `a purchaseAmount has 1 to 48 digits`(digits: String) throws {
        #expect(try Fixture.transaction(["purchaseAmount": digits]).purchase?.amount.digits == digits)
    }

    @Test(arguments: ["", "-1", "+1", "1.00", "1e3", " 1", "1 ", "١", "１", "0x1", String(repeating: "9", count: 49)])
    func `any other purchaseAmount is refused`(digits: String) {
        #expect(Fixture.refusal(["purchaseAmount": digits])?.code == .purchaseAmount)
    }

    @Test(arguments: ["", "84", "0840", "USD", "٨٤٠", "84 ", "-84"])
    func `a purchaseCurrency that is not three digits is refused`(code: String) {
        #expect(Fixture.refusal(["purchaseCurrency": code])?.code == .purchaseCurrency)
    }

    @Test(arguments: ["000", "841", "998", "954", "280"])
    func `a purchaseCurrency that ISO 4217 does not list is refused`(code: String) {
        #expect(Fixture.refusal(["purchaseCurrency": code])?.code == .currencyUnknown)
    }

    @Test(arguments: (955...964).map(String.init) + ["999"])
    func `a listed code that is not for purchases is refused`(code: String) {
        #expect(Fixture.refusal(["purchaseCurrency": code])?.code == .currencyNotAllowed)
    }

    @Test(arguments: ["008", "953", "965", "994", "997"])
    func `listed codes beside the excluded ones are allowed`(code: String) {
        #expect(Fixture.refusal(["purchaseCurrency": code]) == nil)
    }

    @Test(arguments: 0...9)
    func `a purchaseExponent is one digit`(digit: Int) throws {
        #expect(try Fixture.transaction(["purchaseExponent": "\(digit)"]).purchase?.exponent.decimals == digit)
    }

    @Test(arguments: ["", "02", "10", "-1", "a", "²", "٢", " "])
    func `any other purchaseExponent is refused`(text: String) {
        #expect(Fixture.refusal(["purchaseExponent": text])?.code == .purchaseExponent)
    }

    @Test(arguments: ["20231017055638", "20240229000000", "20000229235959", "00010101000000", "99991231235959"])
    func `a real date is allowed`(digits: String) {
        #expect(Fixture.refusal(["purchaseDate": digits]) == nil)
    }

    @Test(arguments: [
        "", "2023101705563", "202310170556380", "20230229000000", "19000229000000", "20230431000000", "20231301000000",
        "20230001000000", "20231000000000", "20231032000000", "20231017240000", "20231017236000", "20161231235960",
        "00000101000000", "2023-10-170556", "２0231017055638", "20231017 55638", "+0231017055638",
    ])
    func `any other purchaseDate is refused`(digits: String) {
        #expect(Fixture.refusal(["purchaseDate": digits])?.code == .purchaseDate)
    }
}
