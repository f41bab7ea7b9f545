import ArgumentParser
import Conformance

struct ApproverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approver",
        abstract: "Judge an approver: the kit plays the issuer against it.",
        usage: "oob-conform approver [--config <file>] [<options>]",
        discussion: """
            The approver needs three commands: enroll (ISSUER, CODE and LINK in its environment), approve and deny \
            (ACS_TRANS_ID and JTI), whose exit status says whether it was decided. pending prints what it presents, \
            fetch has it ask now.
            """)

    @Option(help: "Enrolls at the issuer of the run.")
    var enrollCommand: String?

    @Option(help: "Approves a request.")
    var approveCommand: String?

    @Option(help: "Denies a request.")
    var denyCommand: String?

    @Option(help: "Prints the acsTransIds that are presented, one a line or as a JSON list.")
    var pendingCommand: String?

    @Option(help: "Has the approver ask for requests now.")
    var fetchCommand: String?

    @Option(help: "Stops the approver and starts it again.")
    var restartCommand: String?

    @OptionGroup var options: RunOptions

    func run() async throws {
        try await runnable {
            let cases = try ApproverCases(in: try options.directory)
            try options.expectKnown(against: cases.headers)
            guard !options.list else { return try options.show(cases.headers) }
            let approver = try tested()
            let limit = RunLimit(seconds: options.timeLimit)
            try await Wire.with { wire in
                try await options.play(
                    "approver", "approver",
                    try await cases.playable(against: approver, wire: wire, limit: limit, where: options.takes),
                    limit: limit, without: wire.secrets)
            }
        }
    }

    private func tested() throws -> TestedApprover {
        var given: [String: String] = [:]
        given["enroll"] = enrollCommand
        given["approve"] = approveCommand
        given["deny"] = denyCommand
        given["pending"] = pendingCommand
        given["fetch"] = fetchCommand
        given["restart"] = restartCommand
        return try TestedApprover(try options.config.map { try CaseDirectory.node(at: $0) }, given: given)
    }
}
