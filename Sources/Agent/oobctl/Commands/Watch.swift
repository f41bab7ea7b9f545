import ArgumentParser
import Control
import Prompting

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print events as they happen, until it is stopped.",
        usage: "oobctl watch [<options>]",
        discussion: """
            Each line has the time, the event, the request and its outcome. With --json each is one line of JSON, with \
            its number as seq. A reader that was cut off gives the last number that it has read to --since, and misses \
            nothing; if it was away for longer than events are kept, it gets the event gap first. If the agent goes \
            away, watch waits for it.

            If several hosts share a database, the events are those of all. Each has its host, and a cursor: a place in \
            what each host has written. Then --since takes the last cursor, at any of the hosts.

            Examples:
              oobctl watch                       what happens from now on
              oobctl watch --since 0             what is kept, then what happens
              oobctl watch --json --since 17     as JSON, after the event 17
              oobctl watch --json --since alpha:17,beta:4
            """)

    @Option(
        help: ArgumentHelp(
            "First those after this number or cursor that are kept (0: all).", valueName: "cursor"))
    var since: String?

    @OptionGroup var enrollment: EnrollmentOption
    @OptionGroup var common: CommonOptions

    func validate() throws {
        guard let since, CursorText(since) == nil else { return }
        throw ValidationError("--since takes a number of 0 or more, or a cursor such as alpha:17,beta:4.")
    }

    func run() async throws {
        try await common.read { client, output throws(ClientError) in
            var watching = Watching(
                common: common, enrollment: enrollment.enrollment, output: output,
                position: since.flatMap(CursorText.init))
            try await watching.run(client)
            return .done
        }
    }
}

/// Reads events, and resumes at its place when the agent is back.
private struct Watching {
    let common: CommonOptions
    let enrollment: String?
    let output: Output
    /// The place up to which events were read.
    var position: CursorText?

    /// Runs until the agent refuses a call, or standard output is closed; never returns without an error.
    mutating func run(_ first: ControlClient) async throws(ClientError) {
        try await read(from: first)
        while true {
            output.news("The agent is away; waiting for it.")
            try await waitForAgent()
        }
    }

    /// Returns when the agent has gone away after it had answered.
    ///
    /// - Parameter opened: called once the agent answers.
    private mutating func read(
        from client: ControlClient, opened: () -> Void = {}
    ) async throws(ClientError) {
        try await client.events(after: &position, enrollment: enrollment, opened: opened) {
            event throws(ClientError) in
            try output.data(event) { [ScreenLine(Self.line($0), indent: 4)] }
        }
    }

    /// Returns when the agent was back, and has gone away again.
    private mutating func waitForAgent() async throws(ClientError) {
        while true {
            do { try await Task.sleep(for: .seconds(1)) } catch { throw .unclear("It was stopped.") }
            var hasAnswered = false
            do throws(ClientError) {
                return try await read(from: try common.client()) { hasAnswered = true }
            } catch {
                // A later error concerns an event or standard output.
                guard !hasAnswered, error.isAbsence else { throw error }
            }
        }
    }

    /// Formats an event as one line.
    ///
    /// An example is `2023-10-17T05:56:38Z  requestDecided  0123…  USD 1.00 to CoffeeHouse2  approved  on alpha`.
    private static func line(_ event: EventView) -> String {
        let amount = event.request?.amountText
        let merchant = event.request?.merchantName
        let what = [amount, merchant].compactMap(\.self).joined(separator: " to ")
        let parts = [
            event.at, event.event, event.request?.id ?? event.enrollmentId ?? "", what, event.outcome ?? "",
            event.host.map { "on \($0)" } ?? "",
        ]
        return parts.filter { !$0.isEmpty }.map(TerminalText.escaped).joined(separator: "  ")
    }
}
