import ArgumentParser

struct CheckRequest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Judge an authn request: every rule that it meets or breaks, in order.",
        usage: "oob-conform check-request <file> [<options>]")

    @Argument(help: "The request, a compact JWS; - is standard input.", completion: .file())
    var file: String

    func run() async throws {
        Output.message("check-request is not there yet")
        throw ExitCode(2)
    }
}
