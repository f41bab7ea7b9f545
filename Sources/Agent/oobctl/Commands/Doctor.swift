import ArgumentParser
import Control
import Prompting

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "List what is weak in the set-up, and how each key is kept.",
        discussion: """
            Exits 0 if the agent answers, whatever it finds. What each line means is in docs/reference/doctor.md. \
            With --json only what is weak is listed: `enrollments --json` has the keys.
            """)

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.read { client, output throws(ClientError) in
            let warnings = try await client.doctor()
            let enrollments = try await client.enrollments()
            try output.data(warnings) { Self.lines($0, enrollments) }
            if warnings.isEmpty { output.message("Nothing weak was found.") }
            return .done
        }
    }

    private static func lines(_ warnings: [WarningView], _ enrollments: [EnrollmentView]) -> [ScreenLine] {
        .blocks([warnings.map { ScreenLine(line($0), indent: 8) }, Enrollments.keyTable(enrollments)])
    }

    /// Formats a warning; a severity with "?", such as "low?", is of a check that could not be made.
    private static func line(_ warning: WarningView) -> String {
        let severity = TerminalText.escaped(warning.severity) + (warning.cannotTell == true ? "?" : "")
        let blanks = String(repeating: " ", count: max(0, 8 - severity.count))
        return "\(severity)\(blanks)\(TerminalText.escaped(warning.id)): \(TerminalText.escaped(warning.message))"
    }
}
