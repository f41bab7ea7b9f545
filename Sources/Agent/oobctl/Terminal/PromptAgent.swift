import Control
import Prompting

/// The agent's side of a prompt: its events, and the calls to it.
struct PromptAgent: Sendable {
    /// The most rows that one call reads of the list.
    private static let maxRows = 1_000

    let client: @Sendable () throws(ClientError) -> ControlClient
    let enrollment: String?
    /// The seconds for which the prompt tries to reconnect to an agent that went away.
    let patience: Int

    /// Passes events to `take` until the agent is lost, or the task is cancelled.
    ///
    /// - Parameter take: returns `false` if its queue is full. Then the rest is read again from that place.
    func watch(_ take: @Sendable (PromptEvent) -> Bool) async {
        var position: CursorText?
        var end = ContinuousClock.now
        while !Task.isCancelled {
            let (wasThere, failure) = await follow(&position, take)
            if wasThere {
                end = .now + .seconds(patience)
                guard failure == nil else { return lost(failure, take) }
                _ = take(.away)
            } else if failure?.isAbsence != true || ContinuousClock.now >= end {
                return lost(failure, take)
            }
            guard await pause() else { return }
        }
    }

    /// Makes the agent poll its issuers now.
    ///
    /// A new request arrives as an event. `oobctl status` shows a failure.
    func fetch() async {
        _ = try? await client().fetch(FetchCommand(enrollment: enrollment))
    }

    private func lost(_ failure: ClientError?, _ take: (PromptEvent) -> Bool) {
        _ = take(.lost(failure ?? .unreachable("The agent is away.")))
    }

    /// - Returns: whether the agent answered, and the error. The error is `nil` if the agent went away.
    private func follow(
        _ position: inout CursorText?, _ take: @Sendable (PromptEvent) -> Bool
    ) async -> (Bool, ClientError?) {
        var wasThere = false
        do throws(ClientError) {
            let opened = { wasThere = take(.opened) }
            try await client().events(after: &position, enrollment: enrollment, opened: opened) {
                event throws(ClientError) in
                guard take(.agent(event)) else { throw .unclear("More happens than can be shown.") }
            }
            return (wasThere, nil)
        } catch {
            return (wasThere, error)
        }
    }

    /// Returns `nil` for an effect without an answer of the agent.
    func answer(to effect: PromptEffect) async -> PromptEvent? {
        switch effect {
        case .look(let skipped): await patiently { await next(skipping: skipped) }
        case .load(let id): await patiently { await load(id) }
        case .decide(let decision): await decide(decision)
        default: nil
        }
    }

    /// Retries while the agent is away, up to ``patience``.
    private func patiently(_ ask: () async -> PromptEvent) async -> PromptEvent {
        let end = ContinuousClock.now + .seconds(patience)
        while true {
            let answer = await ask()
            guard case .findingFailed(let failure) = answer, failure.isAbsence, ContinuousClock.now < end,
                await pause()
            else { return answer }
        }
    }

    /// - Returns: `false` if the task was cancelled.
    func pause() async -> Bool {
        do { try await Task.sleep(for: .milliseconds(500)) } catch { return false }
        return true
    }

    /// The oldest pending request except `skipped`, with its text and the number of further ones.
    private func next(skipping skipped: Set<String>) async -> PromptEvent {
        do throws(ClientError) {
            let limit = min(Self.maxRows, skipped.count + PromptSession.maxCounted + 2)
            let rows = try await client().requests(all: false, limit: limit, enrollment: enrollment)
                .filter { !skipped.contains($0.id) }
            guard let row = rows.first else { return .found(nil) }
            return await load(row.id, others: rows.count - 1)
        } catch {
            return .findingFailed(error)
        }
    }

    private func load(_ id: String, others: Int = 0) async -> PromptEvent {
        do throws(ClientError) {
            return .found(try await client().request(id: id, enrollment: nil), others: others)
        } catch {
            return .findingFailed(error)
        }
    }

    private func decide(_ decision: PromptDecision) async -> PromptEvent {
        do throws(ClientError) {
            let request = try await client().decide(
                decision.decision, on: .id(decision.request.id), with: decision.command)
            return .decided(request)
        } catch {
            return .notDecided(error)
        }
    }
}
