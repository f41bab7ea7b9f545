import ArgumentParser
import Control

/// `oobctl enroll --count`.
extension Enroll {
    func runFleet(_ count: Int) async throws {
        let template = try fleetCommand()
        let mix = try mix()
        try await common.run { client, output throws(ClientError) in
            var template = template
            if let caFile { template.caFile = try CAFile.text(caFile) }
            if !yes, !template.issuer.isEmpty {
                try EnrollQuestion(template, authnType: fleetAuthnType, count: count).ask()
            }
            if fleetAuthnType == .pin {
                template.pin = try PINQuestion.chosen(file: pinFile, "PIN for every approval, 4 to 64 characters:")
            }
            let names = FleetNames(prefix: name ?? FleetOptions.defaultName, count: count)
            let run = FleetEnrollment(
                client: client, output: output, names: names,
                codes: CodeCommand(command: fleet.codeCommand ?? "", seconds: fleet.codeTimeout ?? 30), mix: mix,
                template: template)
            let (view, status) = try await run.run()
            try output.data(view) { _ in "" }
            output.message("\(view.count) are enrolled: \(view.before) were there before, \(view.made) were made.")
            if view.waiting > 0 {
                output.message("Of these the issuer has not answered \(view.waiting) yet; the agent goes on trying.")
            }
            return status
        }
    }

    private var fleetAuthnType: AuthnType { authnType ?? (pinFile == nil ? .presence : .pin) }

    /// The command without name and code; its issuer is empty if the links are to say it.
    func fleetCommand() throws -> EnrollCommand {
        guard link == nil, code == nil, codeFile == nil else {
            throw ValidationError("--count takes its codes from --code-command, and no other code or link.")
        }
        guard keyURI == nil else {
            throw ValidationError("--key-uri is one enrollment's key: it does not go with --count.")
        }
        guard name.map({ FleetNames.prefixBytes.contains($0.utf8.count) }) ?? true else {
            throw ValidationError("With --count, --name takes 1 to \(FleetNames.prefixBytes.upperBound) bytes.")
        }
        guard pinFile == nil || fleetAuthnType == .pin else {
            throw ValidationError("--pin-file goes with --authn-type pin.")
        }
        guard fleetAuthnType != .pin || pinFile != nil || Terminal.isThere else {
            throw ValidationError("--authn-type pin takes --pin-file if there is no terminal to ask at.")
        }
        guard issuer != nil || yes || !Terminal.isThere else {
            throw ValidationError("At a terminal, --count takes --issuer, so that you can be asked, or --yes.")
        }
        _ = try mix()
        var command = EnrollCommand(
            issuer: try issuer.map(shown) ?? "", code: "", authnType: fleetAuthnType.rawValue,
            push: noPush ? false : nil)
        if let persona { command.persona = personaOptions.command(persona) }
        return command
    }

    private func mix() throws -> PersonaMix? {
        guard let personas = fleet.personas else {
            guard persona != nil || personaOptions.isEmpty else {
                throw ValidationError(
                    "--delay, --times, --odds and --seed go with --persona, --seed also with --personas.")
            }
            return nil
        }
        guard persona == nil else { throw ValidationError("Give one of --persona and --personas.") }
        guard fleetAuthnType == .test else { throw ValidationError("--personas goes with --authn-type test.") }
        guard personaOptions.delay == nil, personaOptions.times == nil, personaOptions.odds == nil else {
            throw ValidationError("--delay, --times and --odds go with --persona, not with --personas.")
        }
        guard let seed = personaOptions.seed else {
            throw ValidationError("--personas takes --seed: the same seed draws the same personas again.")
        }
        return try Usage.checked { () throws(ControlError) in try PersonaMix(personas, seed: seed) }
    }
}
