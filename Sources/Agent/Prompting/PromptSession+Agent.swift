internal import Control

/// The agent's events, and the loss of the agent.
extension PromptSession {
    mutating func opened() -> [PromptEffect] {
        if case .unsure(let decision) = stage { return [.load(id: decision.request.id)] }
        guard stage == .away else { return [] }
        return look()
    }

    /// The request on the screen cannot be decided now.
    ///
    /// If it is still pending later, the prompt asks about it again.
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
            return withdrawn() + compare(shown)
        case .offeringSkipped:
            // A new request is pending, or a skipped one has changed or has ended.
            guard event.request?.state == .pending || event.event == "gap" || skippedByPerson != before else {
                return []
            }
            return withdrawn() + look()
        case .away, .checking, .sending, .unsure: break
        }
        return []
    }

    mutating func compare(_ shown: ShownRequest) -> [PromptEffect] {
        stage = .checking(shown, again: false)
        return [.load(id: shown.id)]
    }

    /// A request that has ended need not be remembered, and the person has not skipped the changed text.
    mutating func forgetSkipped(_ event: EventView) {
        guard let request = event.request else { return }
        let hasChanged = ["requestSuperseded", "requestConflict"].contains(event.event)
        guard hasChanged || request.state != .pending else { return }
        skipped.remove(request.id)
        skippedByPerson.remove(request.id)
    }

    func concerns(_ event: EventView, _ shown: ShownRequest) -> Bool {
        // An advance of the agent's test clock shortens the time left.
        if ["gap", "clockAdvanced"].contains(event.event) { return true }
        return event.request?.id == shown.id && event.event != "requestPresented" && event.event != "requestDuplicate"
    }
}
