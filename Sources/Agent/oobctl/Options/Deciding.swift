import Control
import Prompting

/// Decides requests in sequence and prints each result.
struct Deciding {
    let decision: Decision
    let command: DecideCommand
    let client: ControlClient
    let output: Output
    let returning: ReturnOptions

    /// Returns the first exit status that is not 0; a failure of one request does not stop the others.
    func decide(_ selectors: [RequestSelector]) async -> ExitStatus {
        var first = ExitStatus.done
        for selector in selectors {
            let status = await decide(selector, isOneOfSeveral: selectors.count > 1)
            if first == .done { first = status }
        }
        return first
    }

    private func decide(_ selector: RequestSelector, isOneOfSeveral: Bool) async -> ExitStatus {
        do throws(ClientError) {
            let request = try await decided(selector)
            let outcome = DecisionOutcome(decision, request)
            let opened = try returning.emit(request, to: output)
            output.message(([outcome.sentence] + opened).joined(separator: " "))
            return outcome.status
        } catch {
            output.error(error, about: isOneOfSeveral ? selector.id : nil)
            return error.exitStatus
        }
    }

    /// Asks for a PIN only if the agent requires one, and then decides that request and no other.
    private func decided(_ selector: RequestSelector) async throws(ClientError) -> RequestView {
        do throws(ClientError) {
            return try await client.decide(decision, on: selector, with: command)
        } catch {
            guard case .refused(let refusal) = error, refusal.token == .pinRequired, let request = refusal.request,
                Terminal.isThere
            else { throw error }
            return try await approveWithPIN(request)
        }
    }

    private func approveWithPIN(_ request: RequestView) async throws(ClientError) -> RequestView {
        let amount = request.amountText ?? "request \(request.id)"
        let merchant = request.merchantName.map { " to \(TerminalText.escaped($0))" } ?? ""
        var command = command
        command.pin = try PINQuestion.existing(file: nil, "PIN to approve \(amount)\(merchant):")
        return try await client.decide(decision, on: .id(request.id), with: command)
    }
}
