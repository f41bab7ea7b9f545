internal import Control

/// An approver's session at a prompt, as a value: what happens goes in with the time, what is to be done comes out.
///
/// One request is on the screen at a time, and an answer counts only for the question that stands when it was typed.
package struct PromptSession: Sendable {
    enum Stage: Sendable, Equatable {
        /// The agent is not there (yet).
        case away
        case waiting
        /// The agent was asked for the next request; these were heard of meanwhile, so its answer may be too old.
        case looking(heardOf: Set<String>)
        case asking(ShownRequest)
        case askingPIN(ShownRequest)
        /// A request that was on the screen is read anew, since it may have changed.
        case checking(ShownRequest, again: Bool)
        case sending(PromptDecision)
        /// The answer to a decision was lost: what became of it?
        case unsure(PromptDecision)
    }

    private let endsAfterOne: Bool
    private let waitingLine: ScreenLine
    var traits: ScreenTraits
    var stage = Stage.away
    private var skipped: Set<String> = []
    private var countdown: Countdown?
    private var saidWaiting = false

    /// - Parameters:
    ///   - endsAfterOne: whether it ends with the first decision, and with its exit status.
    ///   - enrollment: the only one whose requests are shown, where it is one.
    package init(traits: ScreenTraits, endsAfterOne: Bool, enrollment: String?) {
        self.traits = traits
        self.endsAfterOne = endsAfterOne
        let whose = enrollment.map { " of enrollment \($0)" } ?? ""
        waitingLine = ScreenLine("Waiting for requests\(whose). Ctrl-C ends.", .faint)
    }

    package mutating func handle(_ event: PromptEvent, now: Int64) -> [PromptEffect] {
        switch event {
        case .opened: opened()
        case .away: wentAway()
        case .lost(let failure): withdrawn() + [.fail(failure)]
        case .agent(let event): happened(event)
        case .found(let request): found(request, now)
        case .findingFailed(let failure): findingFailed(failure)
        case .decided(let request): decided(request)
        case .notDecided(let failure): notDecided(failure, now)
        case .answer(let text): answered(text, now)
        case .pin(let pin): gave(pin, now)
        case .givenUp: gaveUp()
        case .stopped: withdrawn() + [.stop]
        case .continued: askedAnew(now)
        case .resized(let columns): resized(columns, now)
        case .ticked: ticked(now)
        }
    }

    // MARK: The agent

    private mutating func opened() -> [PromptEffect] {
        if case .unsure(let decision) = stage { return [.load(id: decision.request.id)] }
        guard stage == .away else { return [] }
        return look()
    }

    /// What stands on the screen cannot be decided now; if it is pending still it is asked about anew.
    private mutating func wentAway() -> [PromptEffect] {
        switch stage {
        case .sending, .unsure: return []
        default:
            let effects = withdrawn()
            stage = .away
            saidWaiting = false
            return effects + [.say([ScreenLine("The agent is away; waiting for it. Nothing was decided.", .warning)])]
        }
    }

    private mutating func happened(_ event: EventView) -> [PromptEffect] {
        forgetSkipped(event)
        switch stage {
        case .waiting: return event.request?.state == .pending || event.event == "gap" ? look() : []
        case .looking(let ids): stage = .looking(heardOf: ids.union([event.request?.id ?? ""]))
        case .checking(let shown, _) where concerns(event, shown): stage = .checking(shown, again: true)
        case .asking(let shown), .askingPIN(let shown):
            guard concerns(event, shown) else { return [] }
            return withdrawn() + check(shown)
        case .away, .checking, .sending, .unsure: break
        }
        return []
    }

    private mutating func check(_ shown: ShownRequest) -> [PromptEffect] {
        stage = .checking(shown, again: false)
        return [.load(id: shown.id)]
    }

    /// One that is over needs no remembering, and one that has changed was not the one that was skipped.
    private mutating func forgetSkipped(_ event: EventView) {
        guard let request = event.request else { return }
        let hasChanged = ["requestSuperseded", "requestConflict"].contains(event.event)
        if hasChanged || request.state != .pending { skipped.remove(request.id) }
    }

    private func concerns(_ event: EventView, _ shown: ShownRequest) -> Bool {
        if event.event == "gap" { return true }
        return event.request?.id == shown.id && event.event != "requestPresented" && event.event != "requestDuplicate"
    }

    // MARK: Requests

    mutating func look() -> [PromptEffect] {
        stage = .looking(heardOf: [])
        return [.look(skipping: skipped)]
    }

    private mutating func found(_ request: RequestView?, _ now: Int64) -> [PromptEffect] {
        switch stage {
        case .looking(let heardOf):
            guard let request else { return heardOf.isEmpty ? wait() : look() }
            return heardOf.contains(request.id) ? look() : present(request, now)
        case .checking(let shown, again: true): return check(shown)
        case .checking(let shown, again: false): return request.map { checked($0, shown, now) } ?? look()
        case .unsure(let decision): return request.map { cleared($0, decision, now) } ?? look()
        default: return []
        }
    }

    private mutating func wait() -> [PromptEffect] {
        stage = .waiting
        defer { saidWaiting = true }
        return saidWaiting ? [] : [.say([waitingLine])]
    }

    private mutating func present(_ request: RequestView, _ now: Int64) -> [PromptEffect] {
        guard request.state == .pending, let shown = ShownRequest(request) else {
            skipped.insert(request.id)
            return look()
        }
        guard Countdown(expiresAt: shown.expiresAt, now: now)?.isOver != true else {
            skipped.insert(shown.id)
            return look()
        }
        stage = .asking(shown)
        saidWaiting = false
        return [.say(RequestScreen.lines(shown)), ask(shown, now)]
    }

    /// What became of a request that was on the screen.
    private mutating func checked(_ request: RequestView, _ shown: ShownRequest, _ now: Int64) -> [PromptEffect] {
        guard request.state == .pending else {
            return [.say([Ending.line(request)])] + look()
        }
        let news =
            request.textDigest == shown.textDigest
            ? "Request \(shown.id) is asked about again, unchanged." : "Request \(shown.id) has changed: look again."
        return [.say([ScreenLine(news, .warning)])] + present(request, now)
    }

    /// The answer to a decision was lost, and this is the request now.
    private mutating func cleared(
        _ request: RequestView, _ decision: PromptDecision, _ now: Int64
    ) -> [PromptEffect] {
        guard request.state == .pending else { return finished(decision, request) }
        return [.say([ScreenLine("It was not decided: it is asked about again.", .warning)])] + present(request, now)
    }

    private mutating func findingFailed(_ failure: ClientFailure) -> [PromptEffect] {
        switch stage {
        // The agent is looked for elsewhere; when it is there again, this is asked again.
        case .unsure: return []
        case .looking, .checking:
            if case .refused(let refusal) = failure, refusal.token == .notFound { return look() }
            stage = .away
            return failure.isAbsence ? [] : [.fail(failure)]
        default: return []
        }
    }

    // MARK: The person

    private mutating func answered(_ text: String, _ now: Int64) -> [PromptEffect] {
        guard case .asking(let shown) = stage else { return [] }
        switch PromptAnswer(text) {
        case .approve: return send(.approve, shown)
        case .deny: return send(.deny, shown)
        case .denyAsFraud: return send(.denyAsFraud, shown)
        case .skip:
            skipped.insert(shown.id)
            return [.say([ScreenLine("Skipped: request \(shown.id) stays pending."), .blank])] + look()
        case .help: return [.say(PromptAnswer.helpLines), ask(shown, now)]
        case nil: return [.say([ScreenLine("Type a, d, f, s or ?, then Enter.", .warning)]), ask(shown, now)]
        }
    }

    private mutating func gave(_ pin: PINText, _ now: Int64) -> [PromptEffect] {
        guard case .askingPIN(let shown) = stage else { return [] }
        guard !pin.revealed.isEmpty else {
            stage = .asking(shown)
            return [.say([ScreenLine("No PIN was given; nothing was decided.")]), ask(shown, now)]
        }
        return send(.approve, shown, pin)
    }

    private mutating func send(
        _ choice: PromptDecision.Choice, _ shown: ShownRequest, _ pin: PINText? = nil
    ) -> [PromptEffect] {
        let decision = PromptDecision(choice: choice, request: shown, pin: pin)
        stage = .sending(decision)
        let text = "Asking the agent to \(decision.decision.rawValue)."
        return [.say([ScreenLine(text, .faint)]), .decide(decision)]
    }

    private mutating func gaveUp() -> [PromptEffect] {
        switch stage {
        case .sending(let decision), .unsure(let decision):
            return [.fail(.ended("the decision may have been made: see oobctl show \(decision.request.id)"))]
        case .asking, .askingPIN: return withdrawn() + [.fail(.ended("nothing was decided"))]
        default: return [.fail(.ended("it was waiting"))]
        }
    }

    // MARK: The decision

    private mutating func decided(_ request: RequestView) -> [PromptEffect] {
        guard case .sending(let decision) = stage else { return [] }
        return finished(decision, request)
    }

    private mutating func finished(_ decision: PromptDecision, _ request: RequestView) -> [PromptEffect] {
        let isOurs = request.state == (decision.decision == .approve ? .approved : .denied)
        guard isOurs else { return [.say([Ending.line(request)])] + look() }
        let outcome = DecisionOutcome(decision.decision, request)
        let style: ScreenLine.Style = outcome.status == .done ? .strong : .warning
        let effects: [PromptEffect] = [.say([ScreenLine(outcome.sentence, style)]), .emit(request)]
        return effects + (endsAfterOne ? [.end(outcome.status)] : look())
    }

    private mutating func notDecided(_ failure: ClientFailure, _ now: Int64) -> [PromptEffect] {
        guard case .sending(let decision) = stage else { return [] }
        let shown = decision.request
        guard case .refused(let refusal) = failure else {
            stage = .unsure(decision)
            return [.say([ScreenLine("\(failure)", .warning)]), .load(id: shown.id)]
        }
        switch refusal.token {
        case .pinRequired where decision.pin == nil:
            stage = .askingPIN(shown)
            return [ask(shown, now)]
        case .userNotVerified where decision.pin != nil:
            stage = .askingPIN(shown)
            return [.say([Self.error(failure)]), ask(shown, now)]
        case .noLongerDecidable, .notFound, .expectationFailed:
            return [.say([Self.error(failure)])] + check(shown)
        default:
            stage = .asking(shown)
            return [.say([Self.error(failure)]), ask(shown, now)]
        }
    }
}

// MARK: The question

extension PromptSession {
    private var isAsking: Bool { asked != nil }

    private var asked: ShownRequest? {
        switch stage {
        case .asking(let shown), .askingPIN(let shown): shown
        default: nil
        }
    }

    mutating func ask(_ shown: ShownRequest, _ now: Int64) -> PromptEffect {
        countdown = Countdown(expiresAt: shown.expiresAt, now: now)
        let text = countdown?.text(traits)
        return .ask(stage == .askingPIN(shown) ? .pin(shown, text, traits) : .decision(shown, text, traits))
    }

    /// The whole request and its question, where one stands.
    private mutating func askedAnew(_ now: Int64) -> [PromptEffect] {
        guard let shown = asked else { return [] }
        return [.say(RequestScreen.lines(shown)), ask(shown, now)]
    }

    private mutating func resized(_ columns: Int, _ now: Int64) -> [PromptEffect] {
        traits.columns = ScreenTraits.usable(columns)
        guard traits.movesCursor, isAsking else { return [] }
        return [.clear] + askedAnew(now)
    }

    private func withdrawn() -> [PromptEffect] { isAsking ? [.withdraw] : [] }

    private mutating func ticked(_ now: Int64) -> [PromptEffect] {
        guard let shown = asked, let next = Countdown(expiresAt: shown.expiresAt, now: now) else { return [] }
        guard !next.isOver else {
            let effects = withdrawn() + [.say([Ending.expired(shown.id)])]
            skipped.insert(shown.id)
            return effects + look()
        }
        let isTold = next != countdown && (traits.movesCursor || next.hasReachedMark(since: countdown))
        countdown = next
        return isTold ? [.count(next.text(traits))] : []
    }

    static func error(_ failure: ClientFailure) -> ScreenLine { ScreenLine("Not decided: \(failure)", .warning) }
}
