internal import Control

/// What the agent tells by itself, and what happens while it is away.
extension PromptSession {
    mutating func opened() -> [PromptEffect] {
        if case .unsure(let decision) = stage { return [.load(id: decision.request.id)] }
        guard stage == .away else { return [] }
        return look()
    }

    /// What stands on the screen cannot be decided now; if it is pending still it is asked about anew.
    mutating func wentAway() -> [PromptEffect] {
        switch stage {
        case .sending, .unsure: return []
        default:
            let effects = withdrawn()
            stage = .away
            saidWaiting = false
            return effects + [.say([ScreenLine("The agent is away; waiting for it. Nothing was decided.", .warning)])]
        }
    }

    mutating func happened(_ event: EventView) -> [PromptEffect] {
        let before = skippedByPerson
        forgetSkipped(event)
        switch stage {
        case .waiting: return event.request?.state == .pending || event.event == "gap" ? look() : []
        case .looking(let ids): stage = .looking(heardOf: ids.union([event.request?.id ?? ""]))
        case .checking(let shown, _) where concerns(event, shown): stage = .checking(shown, again: true)
        case .asking(let shown), .askingPIN(let shown):
            guard concerns(event, shown) else { return [] }
            return withdrawn() + check(shown)
        case .offeringSkipped:
            // A new one, or one of those that were skipped has changed or is over.
            guard event.request?.state == .pending || event.event == "gap" || skippedByPerson != before else {
                return []
            }
            return withdrawn() + look()
        case .away, .checking, .sending, .unsure: break
        }
        return []
    }

    mutating func check(_ shown: ShownRequest) -> [PromptEffect] {
        stage = .checking(shown, again: false)
        return [.load(id: shown.id)]
    }

    /// One that is over needs no remembering, and one that has changed was not the one that was skipped.
    mutating func forgetSkipped(_ event: EventView) {
        guard let request = event.request else { return }
        let hasChanged = ["requestSuperseded", "requestConflict"].contains(event.event)
        guard hasChanged || request.state != .pending else { return }
        skipped.remove(request.id)
        skippedByPerson.remove(request.id)
    }

    func concerns(_ event: EventView, _ shown: ShownRequest) -> Bool {
        // An advance of the agent's clock brings the end of a request nearer.
        if ["gap", "clockAdvanced"].contains(event.event) { return true }
        return event.request?.id == shown.id && event.event != "requestPresented" && event.event != "requestDuplicate"
    }
}
