import ArgumentParser
import Control
import Prompting
import Versioning

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
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

    /// The answer has the oldest enrollments only, and the command prints them below.
    private static func count(_ status: StatusView) -> String {
        let (listed, all) = (status.enrollments.count, status.enrollmentCount ?? status.enrollments.count)
        return all > listed ? "\(all), of which \(listed) are below: oobctl enrollments lists all" : "\(all)"
    }

    private static func lines(_ status: StatusView) -> [ScreenLine] {
        let reasons = status.reasons.map { (name: "Reason", value: Optional($0)) }
        // An issuer on this computer is not a fault of the agent, and the first line shows the kind of build. doctor
        // reports both.
        let warnings = status.warnings.filter { !["personas", "plainHTTP"].contains($0.id) }
            .map { (name: "Warning (\($0.severity))", value: Optional($0.message)) }
        let version = SoftwareVersion.ofAgent(status.version, hasPersonas: status.personas)
        let fields = Fields(
            [("Agent", "\(status.state.rawValue), version \(version)")] + reasons + [
                ("Enrollments", count(status)), ("Pending", String(status.pending)),
                ("Queued", String(status.queued)),
                ("Test clock", status.clock.map { "\($0.now), \($0.offsetText) ahead" }),
            ] + warnings)
        return .blocks([fields.lines, Enrollments.tables(status.enrollments, status.clock)])
    }
}
