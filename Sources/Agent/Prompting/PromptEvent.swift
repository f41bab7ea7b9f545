package import Control

/// What happens to a prompt: the agent's side, the person's, the clock's.
package enum PromptEvent: Sendable {
    /// The agent's events come: from the beginning, or again.
    case opened
    /// They come no more; the agent is being looked for.
    case away
    /// It was looked for long enough, or refuses to answer.
    case lost(ClientError)
    case agent(EventView)

    /// The answer to ``PromptEffect/look(skipping:)`` and ``PromptEffect/load(id:)``; nil if nothing is pending.
    ///
    /// `others`: how many more wait that were not skipped; ``PromptSession/maxCounted`` stands for more than that.
    case found(RequestView?, others: Int = 0)
    case findingFailed(ClientError)
    /// The answer to ``PromptEffect/decide(_:)``.
    case decided(RequestView)
    case notDecided(ClientError)

    /// A line that was typed while a question stood.
    case answer(String)
    case pin(PINText)
    /// Ctrl-C, end of input, or a signal that ends programs.
    case givenUp
    /// Ctrl-Z; and the program goes on afterwards, or after any other stop.
    case stopped, continued
    case resized(columns: Int)
    /// A second has passed while a question stood.
    case ticked
}

/// What is to be done about it, in its order.
package enum PromptEffect: Sendable, Equatable {
    /// Lines that stay.
    case say([ScreenLine])
    /// A question, below what stays. What was typed before it is thrown away, and one line is read.
    case ask(PromptQuestion)
    /// The time that is left, in the question that stands.
    case count(String)
    /// The question goes away, and what was typed with it: nothing is read any more.
    case withdraw
    /// All that is on the screen goes away.
    case clear
    /// The oldest pending request except these.
    case look(skipping: Set<String>)
    case load(id: String)
    case decide(PromptDecision)
    /// A decision is made and answered: its return URL goes out.
    case emit(RequestView)
    /// The program stops, as Ctrl-Z has it.
    case stop
    case end(ExitStatus)
    case fail(ClientError)
}

/// What stands last on the screen and waits for an answer.
package struct PromptQuestion: Sendable, Equatable {
    package let lines: [ScreenLine]
    /// Nil if it does not expire.
    package let countdown: String?
    /// What stands before what is typed.
    package let cue: String
    /// Whether it is a PIN: nothing of it is shown.
    package let isHidden: Bool
}

/// What a person decided about a text that was shown.
package struct PromptDecision: Sendable, Equatable {
    package enum Choice: Sendable, Equatable { case approve, deny, denyAsFraud }

    package let choice: Choice
    package let request: ShownRequest
    package let pin: PINText?

    package var decision: Decision { choice == .approve ? .approve : .deny }

    package var command: DecideCommand {
        var command = DecideCommand()
        command.reason =
            switch choice {
            case .approve: nil
            case .deny: .userDenied
            case .denyAsFraud: .suspectedFraud
            }
        command.shownTextDigest = request.textDigest
        command.expectShownText = true
        command.pin = pin
        return command
    }
}

/// Which question stands: a line that was typed for an earlier one is no answer to it.
///
/// Lines are read beside what else happens, so one may be on its way while its question is taken back and another put.
package struct QuestionCount: Sendable {
    private var last = 0
    private var stands = false

    package init() {}

    /// - Returns: the number of the question that stands from now on.
    package mutating func ask() -> Int {
        last += 1
        stands = true
        return last
    }

    /// None stands any more.
    package mutating func withdraw() { stands = false }

    /// Whether a line that was typed for a question answers the one that stands; it stands no more then.
    package mutating func answers(_ question: Int) -> Bool {
        guard stands, question == last else { return false }
        stands = false
        return true
    }
}
