import Control
import Testing

@Suite struct FleetNamesTests {
    @Test func `a name stands for its number and no other name does`() {
        let names = FleetNames(prefix: "card", count: 100_000)
        #expect(names.name(of: 7) == "card-00007")
        #expect(names.name(of: 100_000) == "card-100000")
        #expect(names.number(of: "card-00007") == 7)
        #expect(names.number(of: "card-100000") == 100_000)
        for other in ["card-7", "card-000007", "card-00000", "card-100001", "cards-00007", "card-0000a", "card-+0007"] {
            #expect(names.number(of: other) == nil)
        }
        #expect(FleetNames(prefix: "card", count: 6).number(of: "card-00007") == nil)
        // As the agent keeps the name, whatever keyboard wrote it.
        #expect(FleetNames(prefix: " Cafe\u{301} ", count: 6).number(of: "Caf\u{E9} -00006") == 6)
    }
}
