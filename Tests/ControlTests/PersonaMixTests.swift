import Control
import Testing

@Suite struct PersonaMixTests {
    private func names(_ mix: PersonaMix, _ numbers: ClosedRange<Int>) -> [String] {
        numbers.map { mix.persona(of: $0)?.persona ?? "nobody" }
    }

    @Test func `the persona of a number depends on the seed, the shares and the number alone`() throws {
        let mix = try PersonaMix("autoApprove=0.5,autoDeny=0.3", seed: 1)
        // Written down once: another version must not draw others.
        #expect(
            names(mix, 1...12) == [
                "autoApprove", "nobody", "autoApprove", "autoDeny", "autoApprove", "autoDeny", "autoDeny",
                "autoApprove",
                "autoApprove", "autoApprove", "autoDeny", "nobody",
            ])
        #expect(names(mix, 1...1_000) == names(try PersonaMix("autoApprove=0.5,autoDeny=0.3", seed: 1), 1...1_000))
        #expect(names(mix, 1...1_000) != names(try PersonaMix("autoApprove=0.5,autoDeny=0.3", seed: 2), 1...1_000))
    }

    @Test func `each persona is drawn about as often as its odds say`() throws {
        let drawn = names(try PersonaMix("autoApprove=0.9,autoDeny=0.05,autoApprove@30=0.05", seed: 7), 1...10_000)
        #expect((9_300...9_700).contains(drawn.count { $0 == "autoApprove" }))
        #expect(drawn.allSatisfy { $0 != "nobody" })
    }

    @Test func `the seconds after an at sign are the delay`() throws {
        let mix = try PersonaMix("autoApprove@30=1", seed: 0)
        #expect(mix.persona(of: 1) == PersonaCommand(persona: "autoApprove", delay: 30))
    }

    @Test(arguments: [
        ("", "a share is NAME=ODDS"), ("autoApprove", "a share is NAME=ODDS"), ("=0.5", "a share is NAME=ODDS"),
        ("a=b=c", "a share is NAME=ODDS"), ("a@1@2=1", "a share is NAME=ODDS"), ("a=0.5,", "a share is NAME=ODDS"),
        ("a=0", "the odds must be above 0"), ("a=1.000001", "the odds must be above 0"),
        ("a=-0.5", "the odds must be above 0"), ("a=0.1234567", "the odds must be above 0"),
        ("a=.5", "the odds must be above 0"), ("a=1e-1", "the odds must be above 0"),
        ("a@86401=1", "the seconds after @ must be 0 to 86400"), ("a@=1", "the seconds after @ must be 0 to 86400"),
        ("a=0.5,a=0.4", "this persona is given twice"), ("a=0.7,b=0.5", "the odds sum to 1.2"),
    ]) func `what is no list of odds is refused with what is allowed`(text: String, problem: String) {
        let error = #expect(throws: ControlError.self) { try PersonaMix(text, seed: 0) }
        #expect(error?.message.contains(problem) == true, "\(error?.message ?? "")")
    }

    @Test func `a misspelt persona is named with the one that was probably meant`() throws {
        let mix = try PersonaMix("autoAprove=1", seed: 0)
        let error = #expect(throws: ControlError.self) { try mix.check(among: ["autoApprove", "autoDeny"]) }
        #expect(error?.message.contains("did you mean autoApprove?") == true)
    }

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
