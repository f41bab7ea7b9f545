import Control
import Hummingbird
import PageServing

/// The actions of the page's forms; the caller has verified the session's token.
extension InboxResponder {
    func act(
        _ action: String, on id: String, _ form: PageForm, _ request: Request, _ session: Sessions.Session
    ) async throws(ClientError) -> Response {
        do throws(ClientError) {
            if action == "decide" {
                guard let digest = form["digest"], let decision = Self.decision(form["decision"]) else {
                    return PageAnswer.notice(.noDecision)
                }
                // Another tab, or another answer to the same button, may have decided it by now: then this is refused.
                let decided = try await agent.decide(
                    decision, id, with: Self.command(decision, digest: digest, form))
                return PageAnswer.redirect(to: "/requests/\(decided.id)")
            }
            return try await inTime { () async throws(ClientError) -> Response in
                try await set(action, on: id, form, request, session)
            }
        } catch {
            // The page is shown again with the error, but without a PIN that was typed.
            let (problem, status) = (Self.problem(error, of: action), PageAnswer.status(of: error))
            do throws(ClientError) {
                return try await inTime { () async throws(ClientError) -> Response in
                    PageAnswer.page(try await page(showing: id, request, session, problem: problem), status)
                }
            } catch {
                // The outcome of the decision is shown even if the page itself cannot be made.
                return PageAnswer.page(Pages.notice("The agent does not answer", problem), status)
            }
        }
    }

    /// Runs an action for testers.
    private func set(
        _ action: String, on id: String, _ form: PageForm, _ request: Request, _ session: Sessions.Session
    ) async throws(ClientError) -> Response {
        switch action {
        case "persona": try await setPersona(form["persona"] ?? "", on: id)
        case "clock":
            let command: ClockCommand
            do throws(ControlError) {
                command = try ClockCommand(duration: form["advance"] ?? "")
            } catch { throw .refused(error) }
            _ = try await agent.client().advanceClock(command)
        case "replay":
            let asNew = form["as"] == "new"
            if let problem = await sandbox.replay(try await agent.request(id), asNew: asNew) {
                return PageAnswer.page(try await page(showing: id, request, session, problem: problem), .badGateway)
            }
            _ = try await agent.client().fetch(FetchCommand())
        default: return PageAnswer.notice(.noPage)
        }
        return PageAnswer.redirect(to: "/requests/\(id)")
    }

    /// Builds a decision that is bound to the digest of the text that the page showed.
    private static func command(_ decision: Decision, digest: String, _ form: PageForm) -> DecideCommand {
        var command = InboxServer.decideCommand
        command.shownTextDigest = digest
        command.expectShownText = true
        if decision == .deny { command.reason = form["decision"] == "fraud" ? .suspectedFraud : .userDenied }
        if decision == .approve, let pin = form["pin"], !pin.isEmpty { command.pin = PINText(pin) }
        return command
    }

    private static func decision(_ text: String?) -> Decision? {
        switch text {
        case "approve": .approve
        case "deny", "fraud": .deny
        default: nil
        }
    }

    /// Describes an error; denies that a decision was made only if that is certain.
    private static func problem(_ error: ClientError, of action: String) -> String {
        switch error {
        case .refused, .unreachable: action == "decide" ? "Nothing was decided. \(error)" : "\(error)"
        case .unclear, .cutOff, .unknown: "\(error)"
        }
    }

    /// - Parameter name: the persona that plays the cardholder; empty for none.
    private func setPersona(_ name: String, on id: String) async throws(ClientError) {
        let enrollment = try await agent.request(id).enrollmentId
        if name.isEmpty {
            _ = try await agent.client().clearPersona(of: enrollment)
        } else {
            _ = try await agent.client().setPersona(PersonaCommand(persona: name), of: enrollment)
        }
    }
}
