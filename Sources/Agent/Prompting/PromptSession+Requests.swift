internal import Control

/// The choice of the request on the screen, and the result of the request before it.
extension PromptSession {
    mutating func look() -> [PromptEffect] {
        stage = .looking(heardOf: [])
        return [.look(skipping: skipped)]
    }

    mutating func found(_ request: RequestView?, others: Int = 0, _ now: Int64) -> [PromptEffect] {
        switch stage {
        case .looking(let heardOf):
            guard let request else { return heardOf.isEmpty ? wait() : look() }
            return heardOf.contains(request.id) ? look() : present(request, others: others, now)
        case .checking(let shown, again: true): return compare(shown)
        case .checking(let shown, again: false): return request.map { checked($0, as: shown, at: now) } ?? look()
        case .unsure(let decision): return request.map { cleared($0, after: decision, at: now) } ?? look()
        default: return []
        }
    }

    mutating func wait() -> [PromptEffect] {
        guard skippedByPerson.isEmpty else {
            stage = .offeringSkipped
            return [.ask(.skipped(skippedByPerson.count, traits))]
        }
        stage = .waiting
        defer { saidWaiting = true }
        return saidWaiting ? [] : [.say([waitingLine])]
    }

    mutating func present(_ request: RequestView, others: Int = 0, _ now: Int64) -> [PromptEffect] {
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
        return [.say(RequestScreen.lines(shown) + Self.countLines(others)), ask(shown, now)]
    }

    /// The number of further pending requests, empty if there are none.
    private static func countLines(_ others: Int) -> [ScreenLine] {
        guard others > 0 else { return [] }
        let count = others > maxCounted ? "More than \(maxCounted)" : "\(others)"
        return [ScreenLine("\(count) more \(others == 1 ? "request waits" : "requests wait").", .faint), .blank]
    }

    /// The current state of a request that was on the screen.
    mutating func checked(_ request: RequestView, as shown: ShownRequest, at now: Int64) -> [PromptEffect] {
        guard request.state == .pending else {
            return [.say([Ending.line(request)])] + look()
        }
        // A clock that was set forward: the agent has not expired the request yet.
        if let shown = ShownRequest(request), Countdown(expiresAt: shown.expiresAt, now: now)?.isOver == true {
            skipped.insert(request.id)
            return [.say([Ending.expired(request.id)])] + look()
        }
        let news =
            request.textDigest == shown.textDigest
            ? "Request \(shown.id) is asked about again, unchanged." : "Request \(shown.id) has changed: look again."
        return [.say([ScreenLine(news, .warning)])] + present(request, now)
    }

    /// The request after the answer to a decision was lost.
    mutating func cleared(
        _ request: RequestView, after decision: PromptDecision, at now: Int64
    ) -> [PromptEffect] {
        guard request.state == .pending else { return finished(decision, request) }
        return [.say([ScreenLine("It was not decided: it is asked about again.", .warning)])] + present(request, now)
    }

    /// The agent did not answer, although the prompt tried for as long as it tries to reconnect.
    mutating func findingFailed(_ failure: ClientError) -> [PromptEffect] {
        switch stage {
        case .looking, .checking, .unsure:
            if case .refused(let refusal) = failure, refusal.token == .notFound { return look() }
            return [.fail(failure)]
        default: return []
        }
    }
}
