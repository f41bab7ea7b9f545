import Control
import Testing

@testable import Prompting

/// What the agent refuses, and an agent that is not there.
struct PromptAgentTroubleTests {
    @Test func `a PIN is asked for if the agent wants one, hidden, and goes with the approval`() throws {
        var session = Rehearsal.asking()
        #expect(session.when(.answer("a")).decisions.map(\.pin) == [nil])
        let question = try #require(session.when(Sample.refusal(.pinRequired)).questions.first)
        #expect(question.isHidden && question.lines.first?.text == "PIN to approve USD 1.00 to CoffeeHouse2 (Dæmø):")
        #expect(session.when(.pin(PINText("1234"))).decisions.map(\.command.pin) == [PINText("1234")])
    }

    @Test func `after a wrong PIN it is said how many tries are left, and asked again`() {
        var session = Rehearsal.askingPIN()
        _ = session.when(.pin(PINText("1234")))
        let effects = session.when(Sample.refusal(.userNotVerified, "4 tries are left"))
        #expect(effects.shown.contains("Not decided: 4 tries are left") && effects.questions.map(\.isHidden) == [true])
    }

    @Test func `while it is blocked a deny still goes`() {
        var session = Rehearsal.askingPIN()
        _ = session.when(.pin(PINText("1234")))
        let effects = session.when(Sample.refusal(.blocked, "blocked until 10:00"))
        #expect(effects.shown.contains("blocked until 10:00") && effects.questions.map(\.isHidden) == [false])
        #expect(session.when(.answer("d")).decisions.map(\.decision) == [.deny])
    }

    @Test func `no PIN goes back to the question`() {
        var session = Rehearsal.askingPIN()
        let effects = session.when(.pin(PINText("")))
        #expect(effects.decisions.isEmpty && effects.questions.map(\.isHidden) == [false])
    }

    @Test(arguments: [ErrorToken.noLongerDecidable, .expectationFailed, .notFound])
    func `a decision that came too late is not repeated, but looked into`(token: ErrorToken) {
        var session = Rehearsal.asking()
        _ = session.when(.answer("a"))
        #expect(session.when(Sample.refusal(token)).last == .load(id: "r1"))
        let effects = session.when(.found(Sample.request(state: .denied)))
        #expect(effects.shown.contains("was denied elsewhere") && effects.decisions.isEmpty)
    }

    @Test(arguments: [ErrorToken.notEnrolled, .keyUnavailable, .storage, .failed])
    func `what the agent cannot do is said, and the question stands again`(token: ErrorToken) {
        var session = Rehearsal.asking()
        _ = session.when(.answer("a"))
        let effects = session.when(Sample.refusal(token))
        #expect(effects.shown.contains("Not decided: why") && effects.questions.count == 1)
    }

    @Test func `an agent that goes away takes the question with it, and what waits is asked about when it is back`() {
        for var session in [Rehearsal.asking(), .askingPIN()] {
            let effects = session.when(.away)
            #expect(effects.first == .withdraw && effects.shown.contains("Nothing was decided"))
            #expect(session.when(.answer("a")).isSilent && session.when(.pin(PINText("1234"))).isSilent)
            #expect(session.when(.opened) == [.look(skipping: [])])
            #expect(session.when(.found(Sample.request())).questions.map(\.isHidden) == [false])
        }
    }

    @Test func `an agent that is gone for good ends it with 69`() {
        var session = Rehearsal.asking()
        let failure = ClientError.unreachable("gone")
        #expect(session.when(.lost(failure)) == [.withdraw, .fail(failure)])
        #expect(failure.exitStatus == .unreachable)
    }

    @Test func `a decision whose answer was lost is told from the agent's store, and its URL goes out`() {
        var session = Rehearsal.asking(once: true)
        _ = session.when(.answer("a"))
        #expect(session.when(.notDecided(.unknown("cut off"))).last == .load(id: "r1"))
        #expect(session.when(.away).isSilent)
        #expect(session.when(.opened) == [.load(id: "r1")])
        let answer = Sample.request(state: .approved, delivery: .queued)
        #expect(session.when(.found(answer)).suffix(2) == [.emit(answer), .end(.queued)])
    }

    @Test func `a decision that was lost on its way is asked about anew and never made by itself`() {
        var session = Rehearsal.asking()
        _ = session.when(.answer("a"))
        _ = session.when(.notDecided(.unreachable("away")))
        let effects = session.when(.found(Sample.request()))
        #expect(effects.shown.contains("It was not decided") && effects.questions.count == 1)
        #expect(effects.decisions.isEmpty)
    }

    @Test func `what somebody else decided meanwhile is not taken for one's own`() {
        var session = Rehearsal.asking()
        _ = session.when(.answer("a"))
        _ = session.when(.notDecided(.unclear("cut off")))
        let effects = session.when(.found(Sample.request(state: .denied)))
        #expect(effects.shown.contains("was denied elsewhere") && effects == [effects[0], .look(skipping: [])])
    }

    @Test func `what cannot be read ends it, except a request that is gone`() {
        for failure in [ClientError.unreachable("away"), .refused(ControlError(.storage, "full"))] {
            for var session in [Self.looking, Self.unsure] {
                #expect(session.when(.findingFailed(failure)) == [.fail(failure)])
            }
        }
        var session = Self.looking
        #expect(session.when(.findingFailed(.refused(ControlError(.notFound, "none")))) == [.look(skipping: [])])
        // The agent is looked for already.
        _ = session.when(.away)
        #expect(session.when(.findingFailed(.unreachable("away"))).isSilent)
    }

    private static var looking: Rehearsal {
        var session = Rehearsal()
        _ = session.when(.opened)
        return session
    }

    private static var unsure: Rehearsal {
        var session = Rehearsal.asking()
        _ = session.when(.answer("a"))
        _ = session.when(.notDecided(.unclear("cut off")))
        return session
    }
}
