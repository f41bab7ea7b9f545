import Control
import Testing

@testable import Prompting

/// The oldest pending request is asked about, one at a time, and an answer counts for the text that was shown.
struct PromptSessionTests {
    @Test func `with nothing pending it says once that it waits`() {
        var session = Rehearsal()
        #expect(session.when(.opened) == [.look(skipping: [])])
        #expect(session.when(.found(nil)).shown == "Waiting for requests. Ctrl-C ends.")
        #expect(session.when(Sample.event("requestPresented")) == [.look(skipping: [])])
        #expect(session.when(.found(nil)).isSilent)
    }

    @Test func `a request is shown as the agent wrote it, and then asked about`() throws {
        var session = Rehearsal()
        _ = session.when(.opened)
        let effects = session.when(.found(Sample.request()))
        for line in Sample.text.split(separator: "\n") { #expect(effects.shown.contains(line)) }
        let question = try #require(effects.questions.first)
        #expect(question.lines.first?.text == "Approve USD 1.00 to CoffeeHouse2 (Dæmø)?")
        #expect(question.lines.contains { $0.text == "Read the warning above first." })
        #expect(question.countdown == "Expires in 10:00." && !question.isHidden)
    }

    @Test func `what is no payment is not asked about as one`() throws {
        let text = "Amount:     none (not a payment)\nMerchant:   Library"
        let question = try #require(Rehearsal.asking(Sample.request(text: text)).session.standingQuestion)
        #expect(question == "Approve this authentication (not a payment) for Library?")
    }

    @Test(arguments: [
        ("a", Decision.approve, DenialReason?.none), ("approve", .approve, nil), (" A ", .approve, nil),
        ("d", .deny, .userDenied), ("deny", .deny, .userDenied), ("f", .deny, .suspectedFraud),
        ("fraud", .deny, .suspectedFraud),
    ])
    func `an answer decides about the text that was shown and no other`(
        answer: String, decision: Decision, reason: DenialReason?
    ) throws {
        var session = Rehearsal.asking()
        let decisions = session.when(.answer(answer)).decisions
        let made = try #require(decisions.count == 1 ? decisions[0] : nil)
        #expect(made.decision == decision && made.request.id == "r1")
        var command = DecideCommand()
        command.reason = reason
        command.shownTextDigest = "d1"
        command.expectShownText = true
        #expect(made.command == command)
    }

    @Test(arguments: ["", "x", "y", "yes", "aa", "a b", "ad", "approved", "\u{1B}[A", "ａ"])
    func `nothing else is an answer, and the question is put again`(answer: String) {
        var session = Rehearsal.asking()
        let effects = session.when(.answer(answer))
        #expect(effects.decisions.isEmpty && effects.questions.count == 1)
        #expect(effects.shown.contains("Type a, d, f, s or ?"))
    }

    @Test func `help says what each answer does, and the question is put again`() {
        var session = Rehearsal.asking()
        let effects = session.when(.answer("?"))
        for start in ["a  approve", "d  deny:", "f  deny as fraud", "s  skip", "?  this help"] {
            #expect(effects.shown.contains(start))
        }
        #expect(effects.questions.count == 1)
    }

    @Test func `a skipped request is not shown again, unless it has changed`() {
        var session = Rehearsal.asking()
        #expect(session.when(.answer("s")).last == .look(skipping: ["r1"]))
        _ = session.when(.found(nil))
        #expect(session.when(Sample.event("requestPresented")).last == .look(skipping: ["r1"]))
        _ = session.when(.found(nil))
        #expect(session.when(Sample.event("requestConflict")).last == .look(skipping: []))
    }

    @Test func `what was skipped is offered again when nothing else waits`() {
        var session = Rehearsal.asking()
        _ = session.when(.answer("s"))
        let offer = session.when(.found(nil))
        #expect(offer.shown == "The request that you skipped is still pending. Enter shows it again; Ctrl-C ends.")
        #expect(session.when(.answer("a")).decisions.isEmpty)
        #expect(session.when(.answer("")) == [.look(skipping: [])])
        #expect(session.when(.found(Sample.request())).shown.contains("Approve USD 1.00"))
    }

    @Test func `a skipped request that has ended is not offered again`() {
        var session = Rehearsal.asking()
        _ = session.when(.answer("s"))
        _ = session.when(.found(nil))
        let ended = session.when(Sample.event("requestExpired", Sample.request(state: .expired)))
        #expect(ended == [.withdraw, .look(skipping: [])])
        #expect(session.when(.found(nil)).shown == "Waiting for requests. Ctrl-C ends.")
    }

    @Test(
        arguments: [
            (0, nil), (1, "1 more request waits."), (2, "2 more requests wait."),
            (PromptSession.maxCounted + 1, "More than 100 more requests wait."),
        ] as [(Int, String?)])
    func `it says how many more wait`(others: Int, line: String?) {
        var session = Rehearsal()
        _ = session.when(.opened)
        let shown = session.when(.found(Sample.request(), others: others)).shown
        #expect(shown.contains("more request") == (line != nil))
        if let line { #expect(shown.contains(line)) }
    }

    @Test func `an answer without a question decides nothing`() {
        var session = Rehearsal()
        #expect(session.when(.answer("a")).isSilent)
        _ = session.when(.opened)
        #expect(session.when(.answer("a")).isSilent)
        _ = session.when(.found(nil))
        #expect(session.when(.answer("a")).isSilent && session.when(.pin(PINText("1234"))).isSilent)
    }

    @Test func `while a decision is on its way a second one is not made`() {
        var session = Rehearsal.asking()
        _ = session.when(.answer("d"))
        #expect(session.when(.answer("a")).isSilent)
    }

    @Test func `what the issuer answered is said, the URL goes out once, and the next one is looked for`() {
        var session = Rehearsal.asking()
        _ = session.when(.answer("a"))
        let answer = Sample.request(state: .approved, delivery: .delivered, transStatus: "Y")
        let effects = session.when(.decided(answer))
        #expect(effects.shown == "Approved USD 1.00 to CoffeeHouse2 (Dæmø): the issuer took it (transStatus Y).")
        #expect(effects.dropFirst() == [.emit(answer), .look(skipping: [])])
        #expect(session.when(.decided(answer)).isSilent)
    }

    @Test(
        arguments: [
            (DeliveryState.delivered, "Y", Control.ExitStatus.done), (.delivered, "N", .notTaken),
            (.queued, nil, .queued),
            (.failed, nil, .notTaken),
        ] as [(DeliveryState, String?, Control.ExitStatus)])
    func `with once it ends as approve does`(delivery: DeliveryState, transStatus: String?, status: Control.ExitStatus)
    {
        var session = Rehearsal.asking(once: true)
        _ = session.when(.answer("a"))
        let answer = Sample.request(state: .approved, delivery: delivery, transStatus: transStatus)
        #expect(session.when(.decided(answer)).dropFirst() == [.emit(answer), .end(status)])
    }

    @Test func `once does not end with a request that was not decided here`() {
        var session = Rehearsal.asking(once: true)
        #expect(session.when(.answer("s")).last == .look(skipping: ["r1"]))
        _ = session.when(.found(Sample.request("r2")))
        _ = session.when(Sample.event("requestCancelled", Sample.request("r2", state: .cancelled)))
        #expect(session.when(.found(Sample.request("r2", state: .cancelled))).last == .look(skipping: ["r1"]))
    }

    @Test func `a request without a text is not asked about`() {
        var session = Rehearsal()
        _ = session.when(.opened)
        #expect(session.when(.found(Sample.request(text: nil))) == [.look(skipping: ["r1"])])
        #expect(session.when(.found(Sample.request("r2", digest: nil))) == [.look(skipping: ["r1", "r2"])])
    }
}

extension PromptSession {
    /// The first line of the question that stands.
    var standingQuestion: String? {
        var copy = self
        return copy.handle(.continued, now: Sample.now).questions.first?.lines.first?.text
    }
}
