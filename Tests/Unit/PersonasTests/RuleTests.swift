#if Personas
import AgentConfig
import Testing

@testable import Personas

struct RuleTests {
    private func rules(_ text: String) throws -> [Rule] {
        let config = try ConfigFile(Array(text.utf8), path: "a.yaml", names: ["socket"], lists: ["rules"], advice: "")
        return try Rule.all(in: config.lists["rules"] ?? [])
    }

    @Test func `rules are read in their order, with what they ask for`() throws {
        let rules = try rules(
            """
            socket: a
            rules:
              - name: coffee
                when: { merchantName: "Coffee*", currency: USD, maxAmount: 10.00 }
                then: approve
                times: 3
              - then: deny
            """)
        #expect(rules.map(\.name) == ["coffee", "rule 2"])
        #expect(rules.map(\.outcome) == [.approve, .deny])
        #expect(rules[0].times == 3)
        #expect(rules[0].conditions.maxAmount == DecimalAmount("10"))
        #expect(rules[1].conditions == Rule.Conditions())
    }

    @Test(arguments: [
        ("rules: ask\n", "a.yaml:1: rules: must be a list of at most 256 entries, each beginning with `- `"),
        ("rules:\n  - ask\n", "a.yaml:2: must be members with a value each, such as `then: ask`"),
        ("rules:\n  - name: a\n", "a.yaml:2: `then` is missing; allowed are approve, deny, ask"),
        ("rules:\n  - then: aprove\n", "a.yaml:2: then: did you mean approve? Allowed are approve, deny, ask"),
        (
            "rules:\n  - then: ask\n    whn: {}\n",
            "a.yaml:3: whn: no such member; did you mean when? Allowed are name, when, then, times"
        ),
        (
            "rules:\n  - then: ask\n    when:\n      merchant: a\n",
            "a.yaml:4: merchant: no such member; allowed are merchantName, currency, minAmount, maxAmount, issuer, enrollment"
        ),
        ("rules:\n  - then: ask\n    times: 0\n", "a.yaml:3: times: must be a whole number from 1 to 1000000"),
        (
            "rules:\n  - then: ask\n    when: { currency: EURO }\n",
            "a.yaml:3: currency: must be a code of ISO 4217, such as USD"
        ),
        (
            "rules:\n  - then: ask\n    when: { currency: USD, maxAmount: 1e3 }\n",
            "a.yaml:3: maxAmount: must be an amount such as 10.00, of at most 48 digits"
        ),
        (
            "rules:\n  - name: a\n    then: ask\n  - name: a\n    then: deny\n",
            "a.yaml:4: two rules have the name a"
        ),
    ])
    func `what is wrong is told with file, line and what is allowed`(text: String, message: String) {
        #expect { try rules(text) } throws: { ($0 as? ConfigError)?.message == message }
    }

    @Test func `amounts without a currency are refused`() {
        #expect { try rules("rules:\n  - then: ask\n    when: { maxAmount: 1 }\n") } throws: { error in
            (error as? ConfigError)?.message.contains("minAmount and maxAmount go with currency") == true
        }
    }

    @Test func `more rules than there may be are refused`() {
        let text = "rules:\n" + String(repeating: "  - then: ask\n", count: 257)
        #expect(throws: ConfigError.self) { try rules(text) }
    }

    @Test(arguments: [
        ("Coffee*", "CoffeeHouse2", true), ("*", "", true), ("", "", true), ("", "a", false),
        ("*House?", "CoffeeHouse2", true),
        ("*House?", "CoffeeHouse", false), ("a*b*c", "aXbYbZc", true), ("a*b*c", "aXbYbZ", false),
        ("café", "cafe\u{301}", false),
        ("**a", "ba", true), ("a", "A", false),
    ])
    func `a pattern is for the whole name`(pattern: String, name: String, isMatch: Bool) {
        #expect(Glob(pattern).matches(name) == isMatch)
    }

    @Test func `a pattern that could take forever does not`() {
        let pattern = String(repeating: "*a", count: 500) + "b"
        #expect(!Glob(pattern).matches(String(repeating: "a", count: 4_000)))
    }

    @Test(arguments: [
        ("1.00", "1", false, false), ("0.99", "1.00", true, false), ("9", "10", true, false),
        ("1.1", "1.09", false, true),
        ("000000000000000000000000000000000000000000000001", "2", true, false),
        (
            "999999999999999999999999999999999999999999999998", "999999999999999999999999999999999999999999999999",
            true, false
        ),
    ])
    func `amounts are compared by their digits`(left: String, right: String, isLess: Bool, isMore: Bool) throws {
        let (left, right) = (try #require(DecimalAmount(left)), try #require(DecimalAmount(right)))
        #expect((left < right) == isLess)
        #expect((right < left) == isMore)
    }

    @Test(arguments: ["", ".", "1.", ".5", "1,0", "-1", "1.0.0", "١", String(repeating: "1", count: 50)])
    func `what is no amount is refused`(text: String) { #expect(DecimalAmount(text) == nil) }
}
#endif
