package import Control

/// An event of the agent, of the person or of the clock, as input of a prompt.
package enum PromptEvent: Sendable {
    /// The stream of the agent's events has started, at first or again.
    case opened
    /// The stream has ended; the prompt tries to reconnect to the agent.
    case away
    /// The attempts to reconnect took too long, or the agent refuses to answer.
    case lost(ClientError)
    case agent(EventView)

    /// The answer to ``PromptEffect/look(skipping:)`` and ``PromptEffect/load(id:)``.
    ///
    /// `nil` if no request is pending.
    ///
    /// `others`: the number of further pending requests that were not skipped. ``PromptSession/maxCounted`` stands for
    /// more than that.
    case found(RequestView?, others: Int = 0)
    case findingFailed(ClientError)
    /// The answer to ``PromptEffect/decide(_:)``.
    case decided(RequestView)
    case notDecided(ClientError)

    /// A line that was typed while a question was on the screen.
    case answer(String)
    case pin(PINText)
    /// Ctrl-C, end of input, or a signal that ends programs.
    case givenUp
    /// Ctrl-Z (`stopped`), and the continuation after it or after any other stop (`continued`).
    case stopped, continued
    case resized(columns: Int)
    /// A second has passed while a question was on the screen.
    case ticked
}

/// An action for the terminal or the agent; a prompt carries out its effects in order.
package enum PromptEffect: Sendable, Equatable {
    /// Prints lines that stay.
    case say([ScreenLine])
    /// Puts a question below the lines that stay, discards earlier input and reads one line.
    case ask(PromptQuestion)
    /// Updates the time left in the current question.
    case count(String)
    /// Removes the question and the text typed for it; reading stops.
    case withdraw
    /// Clears the screen.
    case clear
    /// Loads the oldest pending request except these.
    case look(skipping: Set<String>)
    case load(id: String)
    case decide(PromptDecision)
    /// Outputs the return URL of a request that was decided.
    case emit(RequestView)
    /// Stops the program, as Ctrl-Z does.
    case stop
    case end(ExitStatus)
    case fail(ClientError)
}

/// The question at the end of the screen, which waits for an answer.
package struct PromptQuestion: Sendable, Equatable {
    package let lines: [ScreenLine]
    /// The time left, or `nil` if the request does not expire.
    package let countdown: String?
    /// The text in front of the input.
    package let cue: String
    /// Whether typing is hidden, for a PIN.
    package let isHidden: Bool
}

/// A person's decision about a text that was shown.
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

/// The number of the current question: a line that was typed for an earlier question does not answer it.
///
/// Lines are read concurrently with other events. So a line may arrive after its question was removed and replaced.
package struct QuestionCount: Sendable {
    private var last = 0
    private var stands = false

    package init() {}

    /// - Returns: the number of the new current question.
    package mutating func ask() -> Int {
        last += 1
        stands = true
        return last
    }

    /// Removes the current question.
    package mutating func withdraw() { stands = false }

    /// Returns whether a line for `question` answers the current question; if so, removes the question.
    package mutating func answers(_ question: Int) -> Bool {
        guard stands, question == last else { return false }
        stands = false
        return true
    }
}
