internal import Control

/// Which request comes on the screen, and what became of one that was there.
extension PromptSession {
    mutating func look() -> [PromptEffect] {
        stage = .looking(heardOf: [])
        return [.look(skipping: skipped)]
    }

    mutating func found(_ request: RequestView?, _ now: Int64) -> [PromptEffect] {
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

    mutating func wait() -> [PromptEffect] {
        stage = .waiting
        defer { saidWaiting = true }
        return saidWaiting ? [] : [.say([waitingLine])]
    }

    mutating func present(_ request: RequestView, _ now: Int64) -> [PromptEffect] {
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
    mutating func checked(_ request: RequestView, _ shown: ShownRequest, _ now: Int64) -> [PromptEffect] {
        guard request.state == .pending else {
            return [.say([Ending.line(request)])] + look()
        }
        let news =
            request.textDigest == shown.textDigest
            ? "Request \(shown.id) is asked about again, unchanged." : "Request \(shown.id) has changed: look again."
        return [.say([ScreenLine(news, .warning)])] + present(request, now)
    }

    /// The answer to a decision was lost, and this is the request now.
    mutating func cleared(
        _ request: RequestView, _ decision: PromptDecision, _ now: Int64
    ) -> [PromptEffect] {
        guard request.state == .pending else { return finished(decision, request) }
        return [.say([ScreenLine("It was not decided: it is asked about again.", .warning)])] + present(request, now)
    }

    /// The agent was asked again for as long as one that is away is looked for.
    mutating func findingFailed(_ failure: ClientFailure) -> [PromptEffect] {
        switch stage {
        case .looking, .checking, .unsure:
            if case .refused(let refusal) = failure, refusal.token == .notFound { return look() }
            return [.fail(failure)]
        default: return []
        }
    }
}
