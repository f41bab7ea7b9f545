import Control
import FoundationEssentials
import Glibc
import Prompting

/// The event loop of `oobctl prompt`: passes events to the session, and carries out its effects.
struct PromptRun {
    /// Limit for queued events; beyond it, events are read again from the agent.
    private static let maxWaiting = 1_000

    let agent: PromptAgent
    let terminal: PromptTerminal
    let output: Output
    let returning: ReturnOptions
    private(set) var session: PromptSession
    private(set) var screen: PromptScreen
    private var questions = QuestionCount()

    init(
        _ session: PromptSession, _ traits: ScreenTraits, agent: PromptAgent, terminal: PromptTerminal, output: Output,
        returning: ReturnOptions
    ) {
        (self.session, screen) = (session, PromptScreen(traits: traits))
        (self.agent, self.terminal, self.output, self.returning) = (agent, terminal, output, returning)
    }

    mutating func prompt() async throws(ClientError) -> ExitStatus {
        let (inputs, queue) = AsyncStream.makeStream(
            of: PromptInput.self, bufferingPolicy: .bufferingOldest(Self.maxWaiting))
        terminal.start(queue)
        defer { terminal.unwant() }
        let result: Result<ExitStatus, ClientError> = await withDiscardingTaskGroup { group in
            group.addTask { [agent] in
                await agent.watch { event in
                    if case .enqueued = queue.yield(.event(event)) { true } else { false }
                }
            }
            group.addTask { [agent] in await agent.fetch() }
            for await input in inputs {
                guard let event = event(of: input) else { continue }
                guard let result = perform(event, in: &group, answering: queue) else { continue }
                group.cancelAll()
                return result
            }
            return .success(.failed)
        }
        return try result.get()
    }

    /// Returns `nil` for an answer to a question that was replaced or removed.
    private mutating func event(of input: PromptInput) -> PromptEvent? {
        switch input {
        case .event(.resized(let columns)):
            screen.resize(columns: columns)
            return .resized(columns: columns)
        case .event(let event): return event
        case .line(let event, let question):
            guard questions.answers(question) else { return nil }
            screen.settle()
            // Text pasted after this line must not answer the next question.
            terminal.unwant()
            return event
        }
    }

    /// - Returns: the result, if the session has ended.
    private mutating func perform(
        _ event: PromptEvent, in group: inout DiscardingTaskGroup, answering queue: PromptTerminal.Queue
    ) -> Result<ExitStatus, ClientError>? {
        for effect in session.handle(event, now: Int64(Date().timeIntervalSince1970)) {
            switch effect {
            case .say(let lines): terminal.write(screen.say(lines))
            case .count(let text): terminal.write(screen.count(text))
            case .clear: terminal.write(screen.clear())
            case .ask(let question): ask(question)
            case .withdraw: withdraw()
            case .emit(let request): emit(request)
            case .stop:
                terminal.stop()
                return perform(.continued, in: &group, answering: queue)
            case .end(let status): return .success(status)
            case .fail(let failure): return .failure(failure)
            case .look, .load, .decide:
                group.addTask { [agent] in
                    guard let answer = await agent.answer(to: effect) else { return }
                    // An answer comes only once: if the queue is full, it waits for room.
                    while case .dropped = queue.yield(.event(answer)), await agent.pause() {}
                }
            }
        }
        return nil
    }

    private mutating func ask(_ question: PromptQuestion) {
        terminal.write(screen.ask(question))
        // Last, so that text typed before the question does not answer it.
        terminal.want(question: questions.ask(), isHidden: question.isHidden, isUTF8: screen.traits.isUTF8)
    }

    private mutating func withdraw() {
        questions.withdraw()
        terminal.unwant()
        terminal.write(screen.withdraw())
    }

    private func emit(_ request: RequestView) {
        let traits = isatty(STDOUT_FILENO) == 1 ? screen.traits : nil
        do throws(ClientError) {
            for sentence in try returning.emit(request, to: output, on: traits) { output.message(sentence) }
        } catch {
            output.error(error)
        }
    }
}
