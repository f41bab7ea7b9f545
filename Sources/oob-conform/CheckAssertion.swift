import ArgumentParser

struct CheckAssertion: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Judge an assertion: every rule that it meets or breaks, in order.",
        usage: "oob-conform check-assertion <file> [<options>]")

    @Argument(help: "A decision or an AuthenticationResponseJSON; - is standard input.", completion: .file())
    var file: String

    func run() async throws {
        Output.message("check-assertion is not there yet")
        throw ExitCode(2)
    }
}
