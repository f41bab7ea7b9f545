import ArgumentParser

/// The sandbox issuer, for whoever has no issuer at hand.
@main
struct OOBIssuer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "oob-issuer",
        abstract: "A sandbox issuer: an issuer's backend, a small ACS and a merchant in one, for demos and tests.",
        subcommands: [Serve.self, Code.self, Purchase.self])
}
