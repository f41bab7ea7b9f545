import ArgumentParser
import Control

struct Approve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Approve requests; prints each one's return URL.",
        usage: """
            oobctl approve <ids> ... [<options>]
            oobctl approve --next [<options>]
            """,
        discussion: """
            It waits for the issuer's answer to each. A request that expects a PIN takes --pin-file, or asks at a terminal.

            Examples:
              oobctl approve 2f37539c                          by a prefix of its ID
              oobctl approve --next --wait 60                  the next one that comes
              oobctl approve --next --expect-amount "USD 1.00" only if it is this amount
              oobctl approve --next --pin-file pin             with the PIN of a file
            """)

    @Option(
        help: ArgumentHelp(
            "The PIN, in a file; - is standard input. At a terminal it is asked for.", valueName: "file"),
        completion: .file())
    var pinFile: String?

    @OptionGroup var options: DecideOptions
    @OptionGroup var returning: ReturnOptions
    @OptionGroup var common: CommonOptions

    func run() async throws {
        let selectors = try options.selectors()
        try await common.withAgent { client, output throws(ClientError) in
            var command = options.command()
            if let pinFile { command.pin = try SecretLine.pin(pinFile, option: "--pin-file") }
            let deciding = Deciding(
                decision: .approve, command: command, client: client, output: output, returning: returning)
            return await deciding.decide(selectors)
        }
    }
}
