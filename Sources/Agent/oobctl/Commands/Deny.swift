import ArgumentParser
import Control

struct Deny: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deny",
        abstract: "Deny requests; prints each one's return URL.",
        usage: """
            oobctl deny <ids> ... [<options>]
            oobctl deny --next [<options>]
            """)

    @Option(help: ArgumentHelp("Why: userDenied (the default) or suspectedFraud.", valueName: "reason"))
    var reason: DenialReason = .userDenied

    @OptionGroup var options: DecideOptions
    @OptionGroup var returning: ReturnOptions
    @OptionGroup var common: CommonOptions

    func run() async throws {
        let selectors = try options.selectors()
        try await common.withAgent { client, output throws(ClientError) in
            let command = options.command(reason: reason)
            let deciding = Deciding(
                decision: .deny, command: command, client: client, output: output, returning: returning)
            return await deciding.decide(selectors)
        }
    }
}

extension DenialReason: ExpressibleByArgument {}
