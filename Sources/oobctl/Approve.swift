import ArgumentParser
import Control

struct Approve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Approve requests; prints each one's return URL.")

    @OptionGroup var options: DecideOptions
    @OptionGroup var common: CommonOptions

    func run() async throws {
        let selectors = try options.selectors()
        try await common.run { client, output throws(ClientFailure) in
            let deciding = Deciding(decision: .approve, command: options.command(), client: client, output: output)
            return await deciding.run(selectors)
        }
    }
}
