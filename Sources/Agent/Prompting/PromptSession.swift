internal import Control

/// An approver's session at a prompt, as a value: what happens goes in with the time, what is to be done comes out.
///
/// One request is on the screen at a time, and an answer counts only for the question that stands when it was typed.
package struct PromptSession: Sendable {
    enum Stage: Sendable, Equatable {
        /// The agent is not there (yet).
        case away
        case waiting
        /// Only requests that the person skipped are pending: Enter shows them again.
        case offeringSkipped
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

    /// The most other requests that are counted.
    package static let maxCounted = 100

    let endsAfterOne: Bool
    let waitingLine: ScreenLine
    var traits: ScreenTraits
    var stage = Stage.away
    /// Not to be shown now, for whatever reason.
    var skipped: Set<String> = []
    /// Those of them that the person skipped.
    var skippedByPerson: Set<String> = []
    var countdown: Countdown?
    var saidWaiting = false

    /// - Parameters:
    ///   - endsAfterOne: whether it ends with the first decision, and with its exit status.
    ///   - enrollment: the only one whose requests are shown, if it is one.
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
