import ArgumentParser
import Sandbox

struct Load: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Start purchases at a steady rate, and report what the sandbox saw.",
        usage: "oob-issuer load --rate <n> --for <seconds> [<options>]",
        discussion: """
            The purchases are of all active authenticators in turn, and somebody has to decide them: personas, rules or \
            a script. Each is sent when it is due, whether or not those before it were answered, and its time counts from \
            when it was due, so that a slow answer is not hidden.

            It exits with 1 if the rate was not reached, or if the sandbox did not take a purchase; the report says so.

            Example:
              oob-issuer load --rate 200 --for 60
            """)

    @Option(parsing: .unconditional, help: ArgumentHelp("Purchases a second, 1 to 10000.", valueName: "n"))
    var rate: Int64

    @Option(
        name: .customLong("for"), parsing: .unconditional,
        help: ArgumentHelp("How long, 1 to 86400.", valueName: "seconds"))
    var seconds: Int64

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Wait for what is pending at the end, 0 to 3600.", valueName: "seconds"))
    var drain: Int64 = 30

    @OptionGroup var sandbox: SandboxOptions

    func validate() throws { _ = try plan() }

    private func plan() throws(ValidationError) -> LoadPlan {
        do throws(SandboxClient.OrderError) {
            return try LoadPlan(rate: rate, seconds: seconds, drain: drain)
        } catch { throw ValidationError(error.description) }
    }

    func run() async throws {
        let run = LoadRun(try plan(), on: try sandbox.client())
        let report = try await reporting { () throws(SandboxClient.CallError) in
            try await run.run { sent, count in Output.progress("sent \(sent) of \(count)") }
        }
        try Output.data(sandbox.json ? report.json : report.text)
        for complaint in report.complaints { Output.message(complaint) }
        if !report.isComplete { throw ExitCode.failure }
    }
}
