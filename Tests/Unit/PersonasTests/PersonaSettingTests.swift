#if Personas
import Authenticator
import Records
import Testing

@testable import Personas

struct PersonaSettingTests {
    @Test(arguments: [
        (PersonaOrder(name: "badSignatur"), "did you mean badSignature?"),
        (PersonaOrder(name: "honest"), "allowed are ask, "),
        (PersonaOrder(name: "ask", delay: -1), "delay: must be a whole number from 0 to 86400"),
        (PersonaOrder(name: "ask", delay: 86_401), "delay: must be a whole number from 0 to 86400"),
        (PersonaOrder(name: "ask", times: 0), "times: must be a whole number from 1 to 1000000"),
        (PersonaOrder(name: "ask", times: 1_000_001), "times: must be a whole number from 1 to 1000000"),
        (PersonaOrder(name: "ask", odds: 0), "odds: must be above 0 and at most 1"),
        (PersonaOrder(name: "ask", odds: 1.1), "odds: must be above 0 and at most 1"),
        (PersonaOrder(name: "ask", odds: .nan), "odds: must be above 0 and at most 1"),
        (PersonaOrder(name: "ask", seed: -1), "seed: must be a whole number from 0 to 4294967295"),
    ])
    func `what is out of bounds is told with what is allowed`(order: PersonaOrder, what: String) {
        #expect { try PersonaSetting(order) } throws: { error in
            let error = error as? CommandError
            return error?.code == .invalidArgument && error?.message.contains(what) == true
        }
    }

    @Test func `a setting comes back from its document as it was`() throws {
        var setting = try PersonaSetting(
            PersonaOrder(name: "wrongOrigin", delay: 5, times: 7, odds: 0.25, seed: 42))
        for isPlayed in [true, false, true] { setting.use(isPlayed: isPlayed) }
        #expect(PersonaSetting(document: setting.document) == setting)
        #expect((setting.seen, setting.played) == (3, 2))
        let always = try PersonaSetting(PersonaOrder(name: "ask"))
        #expect(PersonaSetting(document: always.document) == always)
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"persona":"gone","delay":0,"times":0,"odds":"1.0","seed":0,"seen":0,"played":0}"#,
    ])
    func `a document that no persona wrote is no setting`(document: String) {
        #expect(PersonaSetting(document: document) == nil)
    }

    @Test func `it answers as many requests as it was set for`() throws {
        var setting = try PersonaSetting(PersonaOrder(name: "autoApprove", times: 2))
        for _ in 0..<2 {
            #expect(setting.nextRefusal == nil)
            setting.use(isPlayed: true)
        }
        #expect(setting.nextRefusal?.contains("has answered the 2 requests") == true)
    }

    /// For seed 7, of 1,000 requests.
    private func draws(_ odds: Double, seed: Int = 7) throws -> [Bool] {
        var setting = try PersonaSetting(PersonaOrder(name: "autoApprove", odds: odds, seed: seed))
        return (0..<1_000).map { _ in
            defer { setting.use(isPlayed: setting.nextRefusal == nil) }
            return setting.nextRefusal == nil
        }
    }

    @Test func `the same seed draws the same, another one does not`() throws {
        #expect(try draws(0.5) == draws(0.5))
        #expect(try draws(0.5) != draws(0.5, seed: 8))
    }

    @Test(arguments: [(0.1, 60...140), (0.5, 430...570), (0.9, 860...940)])
    func `the odds are as they were set`(odds: Double, drawn: ClosedRange<Int>) throws {
        #expect(drawn.contains(try draws(odds).count { $0 }))
    }
}
#endif
