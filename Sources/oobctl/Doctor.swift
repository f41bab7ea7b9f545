import ArgumentParser
import Control

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List what is weak in the set-up.",
        discussion: "Exits 0 where the agent answers, whatever it finds. What each line means is in docs/doctor.md.")

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.run { client, output throws(ClientFailure) in
            let warnings = try await client.doctor()
            try output.data(warnings) { $0.map(Self.line).joined(separator: "\n") }
            if warnings.isEmpty { output.message("Nothing weak was found.") }
            return .done
        }
    }

    /// "low?" is for what cannot be told.
    private static func line(_ warning: WarningView) -> String {
        let severity = TerminalText.escaped(warning.severity) + (warning.cannotTell == true ? "?" : "")
        let blanks = String(repeating: " ", count: max(0, 8 - severity.count))
        return "\(severity)\(blanks)\(TerminalText.escaped(warning.id)): \(TerminalText.escaped(warning.message))"
    }
}
