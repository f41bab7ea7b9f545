internal import Control

/// The person's answers and their results.
extension PromptSession {
    mutating func answered(_ text: String, _ now: Int64) -> [PromptEffect] {
        if stage == .offeringSkipped { return answeredOffer(text) }
        guard case .asking(let shown) = stage else { return [] }
        switch PromptAnswer(text) {
        case .approve: return send(.approve, on: shown)
        case .deny: return send(.deny, on: shown)
        case .denyAsFraud: return send(.denyAsFraud, on: shown)
        case .skip:
            skipped.insert(shown.id)
            skippedByPerson.insert(shown.id)
            return [.say([ScreenLine("Skipped: request \(shown.id) stays pending."), .blank])] + look()
        case .help: return [.say(PromptAnswer.helpLines), ask(shown, now)]
        case nil: return [.say([ScreenLine("Type a, d, f, s or ?, then Enter.", .warning)]), ask(shown, now)]
        }
    }

    /// Enter alone shows the skipped requests again; other text repeats the question.
    private mutating func answeredOffer(_ text: String) -> [PromptEffect] {
        guard text.allSatisfy({ $0 == " " }) else { return askedAnew(0) }
        skipped.subtract(skippedByPerson)
        skippedByPerson = []
        return look()
    }

    mutating func gave(_ pin: PINText, _ now: Int64) -> [PromptEffect] {
        guard case .askingPIN(let shown) = stage else { return [] }
        guard !pin.revealed.isEmpty else {
            stage = .asking(shown)
            return [.say([ScreenLine("No PIN was given; nothing was decided.")]), ask(shown, now)]
        }
        return send(.approve, on: shown, pin: pin)
    }

    mutating func send(
        _ choice: PromptDecision.Choice, on shown: ShownRequest, pin: PINText? = nil
    ) -> [PromptEffect] {
        let decision = PromptDecision(choice: choice, request: shown, pin: pin)
        stage = .sending(decision)
        let text = "Asking the agent to \(decision.decision.rawValue)."
        return [.say([ScreenLine(text, .faint)]), .decide(decision)]
    }

    mutating func gaveUp() -> [PromptEffect] {
        switch stage {
        case .sending(let decision), .unsure(let decision):
            return [.fail(.endedUnsure(decision.request.id))]
        case .asking, .askingPIN: return withdrawn() + [.fail(.ended("nothing was decided"))]
        default: return withdrawn() + [.fail(.ended("it was waiting"))]
        }
    }

    mutating func decided(_ request: RequestView) -> [PromptEffect] {
        guard case .sending(let decision) = stage else { return [] }
        return finished(decision, request)
    }

    mutating func finished(_ decision: PromptDecision, _ request: RequestView) -> [PromptEffect] {
        let isOurs = request.state == (decision.decision == .approve ? .approved : .denied)
        guard isOurs else { return [.say([Ending.line(request)])] + look() }
        let outcome = DecisionOutcome(decision.decision, request)
        let style: ScreenLine.Style = outcome.status == .done ? .strong : .warning
        let effects: [PromptEffect] = [.say([ScreenLine(outcome.sentence, style)]), .emit(request)]
        return effects + (endsAfterOne ? [.end(outcome.status)] : look())
    }

    mutating func notDecided(_ failure: ClientError, _ now: Int64) -> [PromptEffect] {
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
            return [.say([Self.error(failure)])] + compare(shown)
        default:
            stage = .asking(shown)
            return [.say([Self.error(failure)]), ask(shown, now)]
        }
    }
}
