/// Asks the delegate, on the main actor.
///
/// Unchecked: the reference never changes, a weak one is read atomically, and what it leads to is used on the main
/// actor alone.
struct Asker: @unchecked Sendable {
    private weak let delegate: (any AuthnDelegate)?

    init(_ delegate: any AuthnDelegate) { self.delegate = delegate }

    /// - Returns: false if there is no delegate any more.
    @MainActor func ask(_ authn: D1Authn, about data: [String: String], answering answers: Answers) -> Bool {
        guard let delegate else { return false }
        // From here on only the delegate has them.
        let handlers = Handlers(answers)
        delegate.authn(
            authn, shouldConfirmTransactionData: data, proceedHandler: { handlers.give(.proceed) },
            cancelHandler: { handlers.give(.cancel) })
        return true
    }

    @MainActor func prompt(_ authn: D1Authn) throws(D1Error) -> String {
        guard let delegate else { throw .delegateGone }
        return delegate.authnTouchIDOperationPrompt(authn)
    }
}

/// What a payer can answer.
enum ConfirmationAnswer: Sendable {
    case proceed, cancel
}

typealias Answers = AsyncStream<ConfirmationAnswer>.Continuation

/// The two handlers of one question: the first call counts, and it is known when both have been let go.
private final class Handlers: Sendable {
    private let answers: Answers

    init(_ answers: Answers) { self.answers = answers }

    deinit { answers.finish() }

    func give(_ answer: ConfirmationAnswer) {
        // What is yielded after the end is dropped, and of two calls at once the stream takes one before the other.
        answers.yield(answer)
        answers.finish()
    }
}
