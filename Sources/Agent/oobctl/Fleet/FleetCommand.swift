import ArgumentParser
import Control
import Prompting

/// `oobctl fleet`.
struct Fleet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet", abstract: "What many test enrollments have done.", subcommands: [Report.self])

    struct Report: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "report",
            abstract: "Count requests, decisions and outcomes by persona, with the time that decisions took.",
            discussion: """
                A request counts for the persona that was to answer it, also if that came from a rule or a tag. Times \
                are in whole seconds, from when the agent had a request to its decision. At most the newest 1,000,000 \
                requests are counted. An agent for production has no personas and no report.

                Examples:
                  oobctl fleet report --since 1h
                  oobctl fleet report --json
                """)

        @Option(
            help: ArgumentHelp(
                "Requests that came so long ago at most: whole numbers with the units d, h, m and s. Default: 1d.",
                valueName: "duration"))
        var since: String?

        @OptionGroup var common: CommonOptions

        func validate() throws { _ = try seconds() }

        func run() async throws {
            let seconds = try seconds()
            try await common.read { client, output throws(ClientError) in
                let report = try await client.fleet(seconds: seconds)
                try output.data(report, lines: Self.lines)
                if report.cut { output.message("More came than are counted: these are the newest.") }
                if report.all.requests == 0 { output.message("No request came since \(report.since).") }
                return .done
            }
        }

        private func seconds() throws -> Int {
            guard let since else { return 86_400 }
            do throws(ControlError) {
                return try FleetWindow.seconds(since)
            } catch { throw ValidationError("--since: \(error.message)") }
        }

        private static func lines(_ report: FleetView) -> [ScreenLine] {
            let rows = report.personas.map { cells($0, $0.persona ?? "(nobody)") } + [cells(report.all, "all")]
            let figures = [
                "ENROLLMENTS", "REQUESTS", "PENDING", "APPROVED", "DENIED", "EXPIRED", "CANCELLED", "REFUSED", "Y", "N",
                "FAILED", "P50", "P90", "P99", "MAX",
            ]
            let heading = [Table.Column("PERSONA")] + figures.map { Table.Column($0, .text) }
            return Table(heading: heading, rows: rows).lines(Output.columns, isUTF8: Output.isUTF8)
        }

        private static func cells(_ figures: FleetFiguresView, _ name: String) -> [String] {
            let states = ["pending", "approved", "denied", "expired", "cancelled", "refused"].map {
                figures.states[$0] ?? 0
            }
            let outcomes = [
                figures.transStatus["Y"] ?? 0, figures.transStatus["N"] ?? 0, figures.delivery["failed"] ?? 0,
            ]
            let times = figures.latencySeconds.map { [$0.p50, $0.p90, $0.p99, $0.max].map { "\($0) s" } }
            return [name, "\(figures.enrollments)", "\(figures.requests)"] + (states + outcomes).map(String.init)
                + (times ?? ["", "", "", ""])
        }
    }
}
