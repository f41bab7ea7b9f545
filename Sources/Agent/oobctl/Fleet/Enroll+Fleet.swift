import ArgumentParser
import Control

/// `oobctl enroll --count`.
extension Enroll {
    /// The default name of a run.
    private static let defaultName = "fleet"

    func runFleet(_ count: Int) async throws {
        let template = try fleetCommand()
        try await common.withAgent { client, output throws(ClientError) in
            var template = template
            let codeFile = codeFile ?? "-"
            let codes = try SecretLine.codes(codeFile, option: "--code-file", count: count)
            if let caFile { template.caFile = try CAFile.text(caFile) }
            if !yes { try EnrollQuestion(template, authnType: fleetAuthnType, count: count).ask() }
            if fleetAuthnType == .pin {
                template.pin = try PINQuestion.chosen(file: pinFile, "PIN for every approval, 4 to 64 characters:")
            }
            let run = FleetEnrollment(
                client: client, output: output, names: FleetNames(prefix: name ?? Self.defaultName, count: count),
                codes: codes, list: codeFile == "-" ? "standard input" : codeFile, template: template)
            let (view, status) = try await run.enroll()
            try output.data(view) { _ in "" }
            output.message("\(view.count) are enrolled: \(view.before) were there before, \(view.made) were made.")
            if view.waiting > 0 {
                output.message("Of these the issuer has not answered \(view.waiting) yet; the agent goes on trying.")
            }
            return status
        }
    }

    private var fleetAuthnType: AuthnType { authnType ?? (pinFile == nil ? .presence : .pin) }

    /// The command without name and code.
    func fleetCommand() throws -> EnrollCommand {
        try Usage.expect(count, in: FleetNames.counts, option: "--count")
        guard let issuer, codeFile != nil, link == nil, code == nil else {
            throw ValidationError("--count takes --issuer and --code-file, and no other code or link.")
        }
        guard keyURI == nil else {
            throw ValidationError("--key-uri is one enrollment's key: it does not go with --count.")
        }
        guard name.map({ FleetNames.prefixBytes.contains($0.utf8.count) }) ?? true else {
            throw ValidationError("With --count, --name takes 1 to \(FleetNames.prefixBytes.upperBound) bytes.")
        }
        try checkFiles(authnType: fleetAuthnType)
        return EnrollCommand(
            issuer: try shown(issuer), code: "", authnType: fleetAuthnType.rawValue, push: noPush ? false : nil,
            persona: try personaCommand())
    }
}
