import ArgumentParser
import Conformance
import Foundation

struct IssuerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "issuer",
        abstract: "Judge an issuer's back end: the kit plays cardholders against it.",
        usage: "oob-conform issuer [<url>] [--config <file>] [<options>]",
        discussion: """
            The issuer needs two commands: one that prints an enrollment code, and one that makes a purchase. \
            `oob-conform init issuer` writes a file that explains them.
            """)

    @Argument(help: "The issuer's URL; stands above `issuer:` of the file.")
    var url: String?

    @Option(help: "Prints an enrollment code.")
    var codeCommand: String?

    @Option(help: "Makes the purchase that it reads as JSON.")
    var purchaseCommand: String?

    @Option(help: "Takes a purchase back.")
    var cancelCommand: String?

    @Option(help: "Prints the transStatus of a purchase.")
    var outcomeCommand: String?

    @Option(help: "Moves the issuer's clock.")
    var clockCommand: String?

    @Option(help: "Certificates in PEM to trust instead of the system's.", completion: .file())
    var caFile: String?

    @OptionGroup var options: RunOptions

    func run() async throws {
        try await runnable {
            let cases = try IssuerCases(in: try options.directory)
            try options.expectKnown(against: cases.headers)
            guard !options.list else { return try options.show(cases.headers) }
            let issuer = try tested()
            let limit = RunLimit(seconds: options.timeLimit)
            try await Wire.with(roots: try roots()) { wire in
                let clock = try await IssuerCases.reach(issuer, wire: wire)
                try await options.play(
                    "issuer", issuer.name,
                    cases.playable(against: issuer, clock: clock, wire: wire, where: options.takes), limit: limit,
                    without: wire.secrets)
            }
        }
    }

    private func tested() throws -> TestedIssuer {
        var given: [String: String] = [:]
        given["code"] = codeCommand
        given["purchase"] = purchaseCommand
        given["cancel"] = cancelCommand
        given["outcome"] = outcomeCommand
        given["clock"] = clockCommand
        return try TestedIssuer(try options.config.map { try CaseDirectory.node(at: $0) }, url: url, given: given)
    }

    private func roots() throws -> [UInt8]? {
        guard let caFile else { return nil }
        guard let data = FileManager.default.contents(atPath: caFile) else {
            throw CaseFileError("\(caFile): cannot be read")
        }
        return [UInt8](data)
    }
}
