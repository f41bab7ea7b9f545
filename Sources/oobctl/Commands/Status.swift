import ArgumentParser
import Control
import Prompting

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say how the agent is.",
        discussion: "For weak spots of the set-up, such as an issuer without TLS, see doctor.")

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.read { client, output throws(ClientError) in
            let status = try await client.status()
            try output.data(status, lines: Self.lines)
            return .done
        }
    }

    private static func lines(_ status: StatusView) -> [ScreenLine] {
        let reasons = status.reasons.map { (name: "Reason", value: Optional($0)) }
        // That an issuer is a program on this computer is no trouble of the agent's; doctor reports it.
        let warnings = status.warnings.filter { $0.id != "plainHTTP" }
            .map { (name: "Warning (\($0.severity))", value: Optional($0.message)) }
        let fields = Fields(
            [("Agent", "\(status.state.rawValue), version \(status.version)")] + reasons + [
                ("Enrollments", String(status.enrollments.count)), ("Pending", String(status.pending)),
                ("Queued", String(status.queued)),
            ] + warnings)
        return .blocks([fields.lines, Enrollments.tables(status.enrollments)])
    }
}
