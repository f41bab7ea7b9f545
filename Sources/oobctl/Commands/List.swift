import ArgumentParser
import Control
import Prompting

struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the pending requests, oldest first.",
        usage: "oobctl list [<options>]",
        discussion: """
            Where there are more than are listed, standard error says how to see them: of the pending ones the oldest \
            are listed first, with --all the newest.
            """)
    static let limitRange = 1...1_000
    private static let usualLimit = 100

    @Flag(help: "Those that are no longer pending as well.")
    var all = false

    @Option(help: ArgumentHelp("At most this many, 1 to 1000.", valueName: "n"))
    var limit = Self.usualLimit

    @Option(help: ArgumentHelp("Those that came after this request.", valueName: "id"), completion: .allRequests)
    var after: String?

    @Option(help: ArgumentHelp("The last that came before this request.", valueName: "id"), completion: .allRequests)
    var before: String?

    @OptionGroup var enrollment: EnrollmentOption
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try Usage.check(limit, in: Self.limitRange, option: "--limit")
        for id in [after, before].compactMap(\.self) { _ = try Usage.id(id) }
    }

    func run() async throws {
        try await common.read { client, output throws(ClientFailure) in
            let listing = RequestListing(
                all: all, limit: limit, enrollment: enrollment.enrollment,
                after: try await id(of: after, client), before: try await id(of: before, client))
            let (requests, hasNext) = try await client.requests(listing)
            try output.data(requests, lines: table)
            if requests.isEmpty { output.message(emptiness) }
            if hasNext { output.news("There are more: \(Self.command(listing.next(after: requests)))") }
            return .done
        }
    }

    private var emptiness: String {
        if after != nil || before != nil { return "There are no more." }
        return all ? "There are no requests." : "No request is pending."
    }

    /// The whole id that an argument stands for; the same forms are taken as everywhere.
    private func id(of name: String?, _ client: ControlClient) async throws(ClientFailure) -> String? {
        guard let name else { return nil }
        return try await client.request(id: name, enrollment: enrollment.enrollment).id
    }

    private static func command(_ listing: RequestListing) -> String {
        let words =
            ["oobctl list"] + (listing.all ? ["--all"] : [])
            + [
                ("--limit", listing.limit == usualLimit ? nil : String(listing.limit)),
                ("--enrollment", listing.enrollment), ("--after", listing.after), ("--before", listing.before),
            ].compactMap { name, value in value.map { "\(name) \($0)" } }
        return words.joined(separator: " ")
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
