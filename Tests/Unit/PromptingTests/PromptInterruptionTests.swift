import Control
import Testing

@testable import Prompting

/// Whatever comes between, a question goes away at once and nothing is decided by it.
struct PromptInterruptionTests {
    @Test(arguments: [
        (RequestState.cancelled, "requestCancelled", "was cancelled by its issuer"),
        (.expired, "requestExpired", "has expired"), (.approved, "requestDecided", "was approved elsewhere"),
        (.denied, "requestDecided", "was denied elsewhere"), (.refused, "requestRefused", "was refused by the agent"),
    ])
    func `a request that ends takes its question away and says why, also while a PIN is typed`(
        state: RequestState, event: String, said: String
    ) {
        for var session in [Rehearsal.asking(), .askingPIN()] {
            let ended = Sample.request(state: state)
            #expect(session.when(Sample.event(event, ended)) == [.withdraw, .load(id: "r1")])
            #expect(session.when(.answer("a")).isSilent && session.when(.pin(PINText("1234"))).isSilent)
            let effects = session.when(.found(ended))
            #expect(effects.shown.contains(said) && effects.shown.contains("Nothing was decided here."))
            #expect(effects.last == .look(skipping: []))
        }
    }

    @Test(arguments: ["requestSuperseded", "requestConflict"])
    func `a text that changes is shown anew from its start`(event: String) {
        for var session in [Rehearsal.asking(), .askingPIN()] {
            #expect(session.when(Sample.event(event)) == [.withdraw, .load(id: "r1")])
            let effects = session.when(.found(Sample.request(text: "Amount:     USD 9.00", digest: "d2")))
            #expect(effects.shown.contains("has changed") && effects.shown.contains("Amount:     USD 9.00"))
            #expect(effects.questions.map(\.isHidden) == [false])
            #expect(session.when(.answer("a")).decisions.map(\.request.textDigest) == ["d2"])
        }
    }

    @Test func `what happens to other requests disturbs nothing`() {
        var session = Rehearsal.asking()
        for name in ["requestPresented", "requestDecided", "requestExpired", "requestConflict"] {
            #expect(session.when(Sample.event(name, Sample.request("r2"))).isSilent)
        }
        #expect(session.when(Sample.event("requestDuplicate")).isSilent)
        #expect(session.when(.answer("a")).decisions.count == 1)
    }

    @Test func `what changed while it was read is read again`() {
        var session = Rehearsal.asking()
        _ = session.when(Sample.event("requestSuperseded"))
        #expect(session.when(Sample.event("requestConflict")).isSilent)
        #expect(session.when(.found(Sample.request())) == [.load(id: "r1")])
        #expect(session.when(.found(Sample.request(digest: "d2"))).questions.count == 1)

        var looking = Rehearsal()
        _ = looking.when(.opened)
        #expect(looking.when(Sample.event("requestConflict")).isSilent)
        #expect(looking.when(Sample.event("requestPresented", Sample.request("r2"))).isSilent)
        #expect(looking.when(.found(Sample.request())) == [.look(skipping: [])])
        #expect(looking.when(.found(Sample.request(digest: "d2"))).questions.count == 1)
    }

    @Test func `a request that comes while it is looked for none is not missed`() {
        var session = Rehearsal()
        _ = session.when(.opened)
        #expect(session.when(Sample.event("requestPresented")).isSilent)
        #expect(session.when(.found(nil)) == [.look(skipping: [])])
    }

    @Test func `at its expiry the question goes away by the clock`() {
        var session = Rehearsal.asking()
        session.now += 599
        #expect(session.when(.ticked) == [.count("Expires in 0:01.")])
        session.now += 1
        let effects = session.when(.ticked)
        #expect(effects.first == .withdraw && effects.shown.contains("has expired"))
        #expect(effects.last == .look(skipping: ["r1"]))
        #expect(session.when(.answer("a")).isSilent)
    }

    @Test func `what is over already is not asked about`() {
        var session = Rehearsal()
        _ = session.when(.opened)
        #expect(
            session.when(.found(Sample.request(expiresAt: "2023-10-17T05:56:38Z"))) == [.look(skipping: ["r1"])])
    }

    @Test func `if lines can only be added the time is told at marks`() {
        var session = Rehearsal.asking(Sample.request(), Sample.traits(["TERM": "dumb"]))
        var told: [String] = []
        for _ in 1...599 {
            session.now += 1
            told += session.when(.ticked).compactMap { if case .count(let text) = $0 { text } else { nil } }
        }
        #expect(told == ["5:00", "2:00", "1:00", "0:30", "0:10"].map { "Expires in \($0)." })
    }

    @Test(arguments: [PromptEvent.givenUp])
    func `giving up decides nothing and is D1's cancelled`(event: PromptEvent) throws {
        for var session in [Rehearsal(), .asking(), .askingPIN()] {
            guard case .fail(let failure) = session.when(event).last else {
                Issue.record("it went on")
                return
            }
            #expect(failure.exitStatus == .failed && failure.d1Code == .cancelled)
        }
        var session = Rehearsal.asking()
        #expect(session.when(event).first == .withdraw)
    }

    @Test func `giving up while a decision is on its way says where to look`() {
        var session = Rehearsal.asking()
        _ = session.when(.answer("a"))
        guard case .fail(let failure) = session.when(.givenUp).last else {
            Issue.record("it went on")
            return
        }
        #expect("\(failure)".contains("oobctl show r1") && failure.exitStatus == .unknown)
    }

    @Test func `a stop takes the question away, and afterwards it is put anew`() {
        for var session in [Rehearsal.asking(), .askingPIN()] {
            #expect(session.when(.stopped) == [.withdraw, .stop])
            let effects = session.when(.continued)
            #expect(effects.shown.contains("USD 1.00") && effects.questions.count == 1)
        }
        var waiting = Rehearsal()
        #expect(waiting.when(.stopped) == [.stop] && waiting.when(.continued).isSilent)
    }

    @Test func `a new size draws the request anew if that can be`() {
        var session = Rehearsal.asking()
        let effects = session.when(.resized(columns: 40))
        #expect(
            effects.first == .clear && effects.questions.count == 1 && effects.shown.contains(Sample.text.prefix(20)))
        for traits in [Sample.traits(["TERM": "dumb"]), Sample.traits(plain: true)] {
            var session = Rehearsal.asking(Sample.request(), traits)
            #expect(session.when(.resized(columns: 40)).isSilent)
        }
    }
}
