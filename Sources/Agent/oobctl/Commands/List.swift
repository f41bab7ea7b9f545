import ArgumentParser
import Control
import Prompting

struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the pending requests, oldest first.",
        usage: "oobctl list [<options>]",
        discussion: """
            If there are more than are listed, standard error says how to see them: of the pending ones the oldest are \
            listed first, with --all the newest. On a terminal IDs are cut to what tells them apart; other commands \
            take them like that.

            Examples:
              oobctl list                        what is pending
              oobctl list --enrollment kitchen   of one enrollment, by its name
              oobctl list --all --json           all that is kept, as JSON
            """)
    static let limitRange = 1...1_000
    private static let usualLimit = 100

    @Flag(help: "Also those that are no longer pending.")
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
        try Usage.expect(limit, in: Self.limitRange, option: "--limit")
        for id in [after, before].compactMap(\.self) { _ = try Usage.id(id) }
    }

    func run() async throws {
        try await common.read { client, output throws(ClientError) in
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

    /// The whole id of an argument, which may have any form that other commands accept.
    private func id(of name: String?, _ client: ControlClient) async throws(ClientError) -> String? {
        guard let name else { return nil }
        return try await client.request(id: name, enrollment: enrollment.enrollment).id
    }

    private static func command(_ listing: RequestListing) -> String {
        let words =
            ["oobctl list"] + (listing.all ? ["--all"] : [])
            + [
                ("--limit", listing.limit == usualLimit ? nil : String(listing.limit)),
                ("--enrollment", listing.enrollment), ("--after", listing.after), ("--before", listing.before),
            ].compactMap { name, value in value.map { "\(name) \(ShellWord.of($0))" } }
        return words.joined(separator: " ")
    }

    /// Empty if there are no requests.
    private func table(_ requests: [RequestView]) -> [ScreenLine] {
        let columns = Output.columns
        let heading = [
            Table.Column("ID", .id), Table.Column("ACSTRANSID", .id), Table.Column("AMOUNT"),
            Table.Column("MERCHANT", .name), Table.Column("ENROLLMENT", .name),
        ]
        let rows = requests.map {
            [
                $0.id, $0.acsTransId, $0.amountText ?? ($0.isDamaged ? "damaged" : ""), $0.merchantName ?? "",
                $0.enrollmentName ?? $0.enrollmentId,
            ]
        }
        guard all else {
            let expiries = requests.map { [$0.expiresAt ?? ""] }
            return Table(heading: heading + [Table.Column("EXPIRES")], rows: zip(rows, expiries).map { $0 + $1 })
                .lines(columns, isUTF8: Output.isUTF8)
        }
        // The expiry of a pending request, or the delivery state of a decided one.
        let states = requests.map { request in
            switch (request.state, request.delivery) {
            case (.pending, _): "pending" + (request.expiresAt.map { " until \($0)" } ?? "")
            case (let state, .none): state.rawValue
            case (let state, let delivery): "\(state.rawValue), \(delivery.rawValue)"
            }
        }
        return Table(heading: heading + [Table.Column("STATE", .text)], rows: zip(rows, states).map { $0 + [$1] })
            .lines(columns, isUTF8: Output.isUTF8)
    }
}
