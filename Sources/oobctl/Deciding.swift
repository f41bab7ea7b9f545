import Control

/// Decides requests one after the other and prints what comes of each.
struct Deciding {
    let decision: Decision
    let command: DecideCommand
    let client: ControlClient
    let output: Output

    /// The first exit status that is not 0; what failed for one does not keep the others.
    func run(_ selectors: [RequestSelector]) async -> ExitStatus {
        var first = ExitStatus.done
        for selector in selectors {
            let status = await decide(selector, isOneOfSeveral: selectors.count > 1)
            if first == .done { first = status }
        }
        return first
    }

    private func decide(_ selector: RequestSelector, isOneOfSeveral: Bool) async -> ExitStatus {
        do throws(ClientFailure) {
            let request = try await decided(selector)
            // The return URL goes out byte for byte as it came.
            try output.data(request) { $0.threeDSRequestorAppURL ?? "" }
            let status = decision.exitStatus(for: request)
            output.message(sentence(on: request, status))
            return status
        } catch {
            output.error(error, about: isOneOfSeveral ? selector.id : nil)
            return error.exitStatus
        }
    }

    /// Asks for a PIN only where the agent says that the request takes one, and then decides that request and no other.
    private func decided(_ selector: RequestSelector) async throws(ClientFailure) -> RequestView {
        do throws(ClientFailure) {
            return try await client.decide(decision, selector, command)
        } catch {
            guard case .refused(let refusal) = error, refusal.token == .pinRequired, let request = refusal.request,
                Terminal.isThere
            else { throw error }
            return try await approveWithPIN(request)
        }
    }

    private func approveWithPIN(_ request: RequestView) async throws(ClientFailure) -> RequestView {
        let amount = request.amountText ?? "request \(request.id)"
        let merchant = request.merchantName.map { " to \($0)" } ?? ""
        var command = command
        command.pin = try PINQuestion.existing(file: nil, "PIN to approve \(amount)\(merchant):")
        return try await client.decide(decision, .id(request.id), command)
    }

    private func sentence(on request: RequestView, _ status: ExitStatus) -> String {
        let amount = request.amountText.map { " \($0)" } ?? ""
        let merchant = request.merchantName.map { (amount.isEmpty ? " for " : " to ") + $0 } ?? ""
        let decided =
            (decision == .approve ? "Approved" : "Denied") + amount + merchant + ": " + outcome(request, status)
        return request.threeDSRequestorAppURL == nil ? decided + " The request has no return URL." : decided
    }

    private func outcome(_ request: RequestView, _ status: ExitStatus) -> String {
        switch status {
        case .done: "the issuer took it (transStatus \(request.transStatus ?? "unknown"))."
        case .queued: "it is not delivered yet; the agent goes on trying."
        case .notTaken where request.delivery == .failed: "the issuer ended it with an error."
        case .notTaken: "the issuer did not take it (transStatus \(request.transStatus ?? "unknown"))."
        default: "it was not sent."
        }
    }
}
