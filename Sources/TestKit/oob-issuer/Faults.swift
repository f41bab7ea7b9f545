import ArgumentParser
import LinuxProcess
import Sandbox

struct Faults: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Let calls of the issuer protocol fail on purpose.",
        subcommands: [List.self, Set.self, Clear.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the odds and what is planned, in the form that set takes.")

        @OptionGroup var sandbox: SandboxOptions

        func run() async throws {
            let client = try sandbox.client()
            let report = try await reporting { () throws(SandboxClient.CallError) in try await client.faults() }
            try Faults.show(report, sandbox)
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set the odds, plan failures of single calls, or both, and list them.",
            usage: "oob-issuer faults set [<spec>] [--next <failure>] [<options>]",
            discussion: """
                Odds take the place of those that were set before; a planned failure comes after those that are planned \
                already.

                Examples:
                  oob-issuer faults set 500=0.1,drop-after=0.05,seed=42
                  oob-issuer faults set --next path=decision,kind=drop,times=2
                """)

        @Argument(help: ArgumentHelp("The odds, as serve --faults takes them.", valueName: "spec"))
        var odds: String?

        @Option(
            parsing: .singleValue,
            help: ArgumentHelp(
                "The next calls to fail: NAME=VALUE joined by commas.",
                discussion: """
                    path, and status (300 to 599, with retryAfter) or kind (slow with milliseconds, drop, garbage, \
                    truncated, endless, duplicate, reorder, full-list, full-list-moving); moment is before or after \
                    the call has its effect, times how many calls fail. May be repeated.
                    """, valueName: "failure"))
        var next: [String] = []

        @OptionGroup var sandbox: SandboxOptions

        func validate() throws {
            guard odds != nil || !next.isEmpty else {
                throw ValidationError("Give odds, such as 500=0.1, or --next, such as path=decision,kind=drop.")
            }
            do throws(SandboxClient.OrderError) { try SandboxClient.checkFaults(odds: odds, next: next) } catch {
                throw ValidationError(Self.inPlace(of: error.description))
            }
        }

        /// Replaces the member's name at the start of a sentence with the argument that sets it.
        private static func inPlace(of sentence: String) -> String {
            if sentence.hasPrefix("odds: ") { return "<spec>: " + sentence.dropFirst("odds: ".count) }
            if sentence.hasPrefix("next: ") { return "--next: " + sentence.dropFirst("next: ".count) }
            return "--next: " + sentence.drop { $0 == "/" }
        }

        func run() async throws {
            let client = try sandbox.client()
            let report = try await reporting { () throws(SandboxClient.CallError) in
                try await client.setFaults(odds: odds, next: next)
            }
            try Faults.show(report, sandbox)
        }
    }

    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Forget the odds and what is planned.")

        @OptionGroup var sandbox: SandboxOptions

        func run() async throws {
            let client = try sandbox.client()
            let report = try await reporting { () throws(SandboxClient.CallError) in try await client.clearFaults() }
            try output.data(sandbox.json ? report.json : report.text)
        }
    }

    private static func show(_ report: SandboxReport, _ sandbox: SandboxOptions) throws {
        guard sandbox.json || !report.text.isEmpty else { return output.message("no call is to fail") }
        try output.data(sandbox.json ? report.json : report.text)
    }
}
