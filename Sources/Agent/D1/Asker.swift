/// Calls the delegate on the main actor.
///
/// `@unchecked Sendable` is safe: the reference never changes, a weak reference is read atomically, and the
/// delegate is used on the main actor only.
struct Asker: @unchecked Sendable {
    private weak let delegate: (any AuthnDelegate)?

    init(_ delegate: any AuthnDelegate) { self.delegate = delegate }

    /// - Returns: `false` if the delegate has been deallocated.
    @MainActor func ask(_ authn: D1Authn, about data: [String: String], answering answers: Answers) -> Bool {
        guard let delegate else { return false }
        // From here on only the delegate has references to the handlers.
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

/// The payer's answer.
enum ConfirmationAnswer: Sendable {
    case proceed, cancel
}

typealias Answers = AsyncStream<ConfirmationAnswer>.Continuation

/// The two handlers of one question: the first call counts.
///
/// The stream ends when both handlers are released.
private final class Handlers: Sendable {
    private let answers: Answers

    init(_ answers: Answers) { self.answers = answers }

    deinit { answers.finish() }

    func give(_ answer: ConfirmationAnswer) {
        // The stream drops a value that is yielded after its end. It serializes two calls at the same time.
        answers.yield(answer)
        answers.finish()
    }
}
