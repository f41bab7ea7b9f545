internal import Control

/// The question on the screen.
extension PromptSession {
    var isAsking: Bool { asked != nil || stage == .offeringSkipped }

    var asked: ShownRequest? {
        switch stage {
        case .asking(let shown), .askingPIN(let shown): shown
        default: nil
        }
    }

    mutating func ask(_ shown: ShownRequest, _ now: Int64) -> PromptEffect {
        countdown = Countdown(expiresAt: shown.expiresAt, now: now)
        let text = countdown?.text(traits)
        return .ask(
            stage == .askingPIN(shown)
                ? .pin(shown, countdown: text, on: traits) : .decision(shown, countdown: text, on: traits))
    }

    /// The whole request and its question, if there is a question.
    mutating func askedAnew(_ now: Int64) -> [PromptEffect] {
        if stage == .offeringSkipped { return [.ask(.skipped(skippedByPerson.count, traits))] }
        guard let shown = asked else { return [] }
        return [.say(RequestScreen.lines(shown)), ask(shown, now)]
    }

    mutating func resized(_ columns: Int, _ now: Int64) -> [PromptEffect] {
        traits.columns = ScreenTraits.usable(columns)
        guard traits.movesCursor, isAsking else { return [] }
        return [.clear] + askedAnew(now)
    }

    func withdrawn() -> [PromptEffect] { isAsking ? [.withdraw] : [] }

    mutating func ticked(_ now: Int64) -> [PromptEffect] {
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

    static func error(_ failure: ClientError) -> ScreenLine { ScreenLine("Not decided: \(failure)", .warning) }
}
