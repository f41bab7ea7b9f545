import ArgumentParser
import Control
import LinuxProcess
import Versioning

/// The client of oob-agent: it has no key and no database, and prints the agent's answers.
///
/// Each command sets its name: otherwise the parser derives it from the type's name, which costs each call
/// milliseconds.
@main
struct Oobctl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "oobctl",
        abstract: "Enroll with issuers, and approve or deny authn requests, through oob-agent.",
        discussion: """
            Standard output is data, standard error is messages; --json makes JSON of both. An ID may be cut short as \
            long as it stands for one. An enrollment's name works wherever its ID does.

            Examples:
              oobctl enroll "$LINK"                         enroll with the issuer's link
              oobctl prompt                                 be asked about each request
              oobctl approve --next --wait 60               approve the next request
              oobctl list --all                             all requests that are kept
              oobctl doctor                                 what is weak in the set-up

            Exit status:
            \(ExitStatus.help)
            """,
        version: SoftwareVersion.text,
        groupedSubcommands: [
            CommandGroup(
                name: "Requests",
                subcommands: [Prompt.self, List.self, Show.self, Approve.self, Deny.self, Fetch.self, Watch.self]),
            CommandGroup(
                name: "Enrollment",
                subcommands: [
                    Enroll.self, Enrollments.self, PINCommand.self, KeyCommand.self, PushCommand.self, Unenroll.self,
                ]),
            CommandGroup(name: "Tests", subcommands: [Persona.self, Rules.self, Explain.self, Fleet.self]),
            CommandGroup(
                name: "Agent",
                subcommands: [
                    Status.self, Doctor.self, Audit.self, Evidence.self, Backup.self, Clock.self,
                ]),
        ])

    /// Parses and runs the command; wrong usage exits 64 (EX_USAGE) before anything is sent.
    static func main() async {
        // A write to a closed pipe then fails, and the command handles the error.
        BrokenPipe.ignoreSignal()
        FileLimit.raise(for: "oobctl")
        // Its memory contains a PIN for a moment. If the kernel does not allow it, the command still works.
        try? ProcessHardening.forbidDumps()
        do {
            try checkVerb()
            var command = try await asyncParseAsRoot(DashedIDs.escaped(Array(CommandLine.arguments.dropFirst())))
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            // An ExitCode comes from a command that has already printed its error.
            if !(error is ExitCode), exitCode(for: error) == .validationFailure,
                CommandLine.arguments.contains("--json")
            {
                Output(json: true).usageError(message(for: error))
                exit(withError: exitCode(for: error))
            }
            exit(withError: error)
        }
    }

    /// Refuses an unknown verb: the parser would treat it as an argument, and complain about an option after it.
    private static func checkVerb() throws {
        guard let word = CommandLine.arguments.dropFirst().first, !word.hasPrefix("-"), word != "help" else { return }
        guard !configuration.subcommands.contains(where: { $0.configuration.commandName == word }) else { return }
        throw ValidationError("There is no command \(TerminalText.escaped(word)): oobctl --help lists them.")
    }
}
