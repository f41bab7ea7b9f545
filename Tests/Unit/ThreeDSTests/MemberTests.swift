import Testing
import ThreeDS

struct MemberTests {
    @Test func `a transaction in order keeps its members as they came`() throws {
        let transaction = try Fixture.transaction(["custom": "1", "Custom": "2"])
        #expect(transaction.members == Fixture.members(["custom": "1", "Custom": "2"]))
        #expect(transaction.otherMembers.map(\.name) == ["custom", "Custom"])
        #expect(transaction.merchantName == "CoffeeHouse2 (Dæmø)")
        #expect(transaction.threeDSRequestorAppURL?.text == "https://merchant.example/return?transID=1")
    }

    @Test(arguments: [(9, true), (10, false)])
    func `16 members are allowed with the known ones`(others: Int, isAllowed: Bool) {
        let members = Fixture.members + (0..<others).map { TransactionMember(name: "m\($0)", value: "") }
        #expect((Fixture.refusal(of: members)?.code == .tooManyMembers) == !isAllowed)
        #expect((Fixture.refusal(of: members) == nil) == isAllowed)
    }

    @Test(arguments: ["a", "Z", "0", "_", ".", "-", "a.b-C_9", String(repeating: "n", count: 64)])
    func `a name of 1 to 64 allowed characters passes`(name: String) {
        #expect(Fixture.refusal([name: "value"]) == nil)
    }

    @Test(arguments: [
        "", " ", "a b", "a:b", "a\nb", "é", "a\u{301}", "\u{212A}", "a/b", String(repeating: "n", count: 65),
    ])
    func `any other name is refused`(name: String) {
        #expect(Fixture.refusal(of: Fixture.members + [TransactionMember(name: name, value: "v")])?.code == .memberName)
    }

    @Test(arguments: ["custom", "merchantName", "purchaseAmount"])
    func `a name that is there twice is refused, also with the same value`(name: String) {
        let member = TransactionMember(name: name, value: "CoffeeHouse2")
        let refusal = Fixture.refusal(of: Fixture.members([name: nil]) + [member, member])
        #expect(refusal == .duplicateMember(name))
        #expect(refusal?.code == .duplicateMember)
    }

    @Test(arguments: [("x", 1_024, true), ("x", 1_025, false), ("🛒", 1_024, true), ("e\u{301}", 513, false)])
    func `a value of 1024 scalars is allowed`(text: String, count: Int, isAllowed: Bool) {
        let refusal = Fixture.refusal(["custom": String(repeating: text, count: count)])
        #expect(refusal?.code == (isAllowed ? nil : .memberTooLong))
        #expect(refusal?.member == (isAllowed ? nil : "custom"))
    }

    @Test(arguments: [(0, true), (1, false)])
    func `4096 scalars in other values together are allowed`(beyond: Int, isAllowed: Bool) {
        let full = String(repeating: "x", count: 1_024)
        let refusal = Fixture.refusal([
            "a": full, "b": full, "c": full, "d": full, "e": String(repeating: "x", count: beyond),
        ])
        #expect(refusal?.code == (isAllowed ? nil : .membersTooLong))
    }

    @Test(arguments: ["acsTransId", "merchantName"])
    func `a transaction without an id or a merchant is refused`(name: String) {
        #expect(Fixture.refusal([name: nil])?.code == .memberMissing)
        #expect(Fixture.refusal([name: nil])?.member == name)
    }

    @Test(arguments: ["AcsTransId", "merchantname", "PurchaseAmount"])
    func `a known name in other letters is another member`(name: String) throws {
        #expect(try Fixture.transaction([name: "anything"]).otherMembers.map(\.name) == [name])
    }

    @Test(arguments: ["purchaseAmount", "purchaseCurrency", "purchaseExponent", "purchaseDate"])
    func `three of the four purchase members are refused`(absent: String) {
        #expect(Fixture.refusal([absent: nil])?.code == .purchaseIncomplete)
        #expect(Fixture.refusal([absent: nil])?.member == absent)
    }

    @Test(arguments: ["purchaseAmount", "purchaseCurrency", "purchaseExponent", "purchaseDate"])
    func `one of the four purchase members is refused`(present: String) {
        let members = Fixture.members.filter { !$0.name.hasPrefix("purchase") || $0.name == present }
        #expect(Fixture.refusal(of: members)?.code == .purchaseIncomplete)
    }

    @Test func `a transaction without any purchase member is no payment`() throws {
        let members = Fixture.members.filter { !$0.name.hasPrefix("purchase") }
        #expect(try Transaction(members: members).purchase == nil)
    }

    @Test func `transactions are compared by bytes and without regard to order`() throws {
        let composed = try Fixture.transaction(["merchantName": "Caf\u{E9}", "a": "1"])
        let decomposed = try Fixture.transaction(["merchantName": "Cafe\u{301}", "a": "1"])
        let reversed = try Transaction(members: composed.members.reversed())
        #expect(composed != decomposed)
        #expect(composed == reversed)
        #expect(try composed != Fixture.transaction(["merchantName": "Caf\u{E9}"]))
        #expect(try composed != Fixture.transaction(["merchantName": "Caf\u{E9}", "b": "1"]))
    }

    @Test func `a refusal shows hostile text escaped and cut`() {
        let name = "\u{202E}\n" + String(repeating: "x", count: 5_000)
        let refusals = [
            Fixture.refusal(of: [TransactionMember(name: name, value: "")]), .nonStringValue(member: name),
            .duplicateMember(name),
        ]
        for refusal in refusals.compactMap({ $0 }) {
            #expect(refusal.member == #"\u{202E}\u{A}"# + String(repeating: "x", count: 38) + "…")
            #expect(refusal.message.contains(#"\u{202E}\u{A}x"#))
            #expect(refusal.message.count < 160)
        }
    }

    @Test func `the refusal of a value that is no string names its member`() {
        let refusal = TransactionRefusal.nonStringValue(member: "purchaseAmount")
        #expect(refusal.code == .nonStringValue)
        #expect(refusal.member == "purchaseAmount")
        #expect(refusal.description == "purchaseAmount is not a string; every member must be one")
    }
}
