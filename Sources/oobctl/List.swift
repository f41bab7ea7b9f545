import ArgumentParser
import Control
import Prompting

struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the pending requests, oldest first.",
        usage: "oobctl list [<options>]")
    static let limitRange = 1...1_000

    @Flag(help: "Those that are no longer pending as well.")
    var all = false

    @Option(help: ArgumentHelp("At most this many, 1 to 1000.", valueName: "n"))
    var limit = 100

    @OptionGroup var enrollment: EnrollmentOption
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try Usage.check(limit, in: Self.limitRange, option: "--limit")
    }

    func run() async throws {
        try await common.read { client, output throws(ClientFailure) in
            let requests = try await client.requests(all: all, limit: limit, enrollment: enrollment.enrollment)
            try output.data(requests, lines: table)
            if requests.isEmpty { output.message(all ? "There are no requests." : "No request is pending.") }
            return .done
        }
    }

    /// Empty where there is no request.
    private func table(_ requests: [RequestView]) -> [ScreenLine] {
        let heading = ["ID", "AMOUNT", "MERCHANT", "ENROLLMENT", "EXPIRES"]
        let rows = requests.map {
            [$0.id, $0.amountText ?? "", $0.merchantName ?? "", $0.enrollmentId, $0.expiresAt ?? ""]
        }
        guard all else { return Table(heading: heading, rows: rows).lines }
        let states = requests.map { [$0.state.rawValue, $0.delivery.rawValue] }
        return Table(heading: heading + ["STATE", "DELIVERY"], rows: zip(rows, states).map { $0 + $1 }).lines
    }
}
