import Control
import Hummingbird
import PageServing

/// What a form of the page asks for; the session's token was looked at before.
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
            // The page again, with what is wrong; a PIN that was typed is not on it.
            let (problem, status) = (Self.problem(error, of: action), PageAnswer.status(of: error))
            do throws(ClientError) {
                return try await inTime { () async throws(ClientError) -> Response in
                    PageAnswer.page(try await page(showing: id, request, session, problem: problem), status)
                }
            } catch {
                // The decision's outcome is said also if there is no page to show it on.
                return PageAnswer.page(Pages.notice("The agent does not answer", problem), status)
            }
        }
    }

    /// Does what a tester asks for.
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

    /// Bound to the digest of the text that the page showed.
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

    /// Says that nothing was decided only if that is known.
    private static func problem(_ error: ClientError, of action: String) -> String {
        switch error {
        case .refused, .unreachable: action == "decide" ? "Nothing was decided. \(error)" : "\(error)"
        case .unclear, .cutOff, .unknown: "\(error)"
        }
    }

    /// - Parameter name: empty: nobody plays the cardholder any more.
    private func setPersona(_ name: String, on id: String) async throws(ClientError) {
        let enrollment = try await agent.request(id).enrollmentId
        if name.isEmpty {
            _ = try await agent.client().clearPersona(of: enrollment)
        } else {
            _ = try await agent.client().setPersona(PersonaCommand(persona: name), of: enrollment)
        }
    }
}
