internal import Control

/// An approver's session at a prompt, as a state machine: events and the time come in, effects go out.
///
/// One request is on the screen at a time. An answer counts only for the question that was there when it was typed.
package struct PromptSession: Sendable {
    enum Stage: Sendable, Equatable {
        /// The agent is not connected, or not yet.
        case away
        case waiting
        /// Only requests that the person skipped are pending; Enter shows them again.
        case offeringSkipped
        /// The prompt waits for the next request.
        ///
        /// Events about these came meanwhile, so the answer may be outdated.
        case looking(heardOf: Set<String>)
        case asking(ShownRequest)
        case askingPIN(ShownRequest)
        /// The prompt reloads the request that was on the screen, because it may have changed.
        case checking(ShownRequest, again: Bool)
        case sending(PromptDecision)
        /// The answer to a decision was lost; the prompt reloads the request.
        case unsure(PromptDecision)
    }

    /// The most other requests that are counted.
    package static let maxCounted = 100

    let endsAfterOne: Bool
    let waitingLine: ScreenLine
    var traits: ScreenTraits
    var stage = Stage.away
    /// The requests that are not shown now, for any reason.
    var skipped: Set<String> = []
    /// The skipped requests that the person skipped.
    var skippedByPerson: Set<String> = []
    var countdown: Countdown?
    var saidWaiting = false

    /// - Parameters:
    ///   - endsAfterOne: ends the prompt after the first decision, with its exit status.
    ///   - enrollment: shows the requests of this enrollment only. `nil` shows all requests.
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
        case .found(let request, let others): found(request, others: others, now)
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
}
