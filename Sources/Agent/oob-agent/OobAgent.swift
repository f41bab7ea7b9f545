import AgentHost
import ArgumentParser
import FoundationEssentials
import Glibc
import Keys
import LineLog
import LinuxProcess
import Logging
import SQLiteStore
import TextAndTime
import Versioning

/// The agent: the only program with keys and the database.
///
/// It runs in the foreground, prints a line on standard output when it is ready, and logs to standard error.
@main
struct OobAgent: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "oob-agent",
        abstract: "An out-of-band (OOB) authenticator for 3-D Secure: the bank's app as a service.",
        discussion: """
            Each setting can be a flag, an environment variable (OOB_AGENT_ and the flag's name, such as \
            OOB_AGENT_STATE_DIR) or a member of the config file, in that order of strength.

            Once oobctl is answered, standard output says where: listening on PATH. The log goes to standard error.

            Exit status:
            \(StartError.Status.help)
            """,
        version: AgentProcess.version)

    @OptionGroup var flags: SettingFlags

    @Flag(
        name: .customLong("check-config"),
        help: "Check all settings and what they name, say what is wrong, or which are set and where, and exit.")
    var checkConfig = false

    @Flag(name: .customLong("print-config"), help: "Print a config file with every setting, commented out, and exit.")
    var printConfig = false

    @Option(
        help: ArgumentHelp(
            "Restore a backup into the state directory, which must be empty, and exit.", valueName: "file"),
        completion: .file())
    var restore: String?

    @Flag(
        name: .customLong("accept-head"),
        help: ArgumentHelp(
            "Take the database as it is though it may not be the newest (headMissing, restored, rowsChanged), and exit.",
            discussion:
                "The agent must be stopped. It is written down in the journal. If nothing is in doubt, nothing is done."
        ))
    var acceptHead = false

    @Flag(
        name: .customLong("accept-clock"),
        help: ArgumentHelp(
            "Take this machine's clock as it is though it is far ahead of the proven time (clockAhead), and exit.",
            discussion:
                "The agent must be stopped. It is written down in the journal. If nothing is in doubt, nothing is done."
        ))
    var acceptClock = false

    @Option(
        help: ArgumentHelp(
            "Move the state of this agent, which is stopped, and exit: into an empty PostgreSQL database, or into a file.",
            discussion: """
                The place is a URL as --database has it, with --host-name, and --database-password-file if the database needs a \
                password; or sqlite, for the state that hosts had in the one that --database names.
                """,
            valueName: "place"))
    var migrateTo: String?

    static func main() async {
        BrokenPipe.ignoreSignal()
        FileLimit.raise(for: "oob-agent")
        AllocatedMemory.share()
        SecretVariables.remove()
        _ = ProcessEnvironment.serviceManager
        do {
            try ProcessHardening.apply()
        } catch {
            leave(StartError(.osError, "this process could not be protected: \(error)"), .text)
        }
        do {
            var command = try parseAsRoot()
            guard let agent = command as? OobAgent else { return try command.run() }
            // Ignores SIGHUP until AgentProcess handles it.
            signal(SIGHUP, SIG_IGN)
            await agent.runOrLeave()
        } catch {
            if let refusal = unknownFlag(error) { leave(refusal, .text) }
            exit(withError: error)
        }
    }

    /// The refusal of an unknown flag, or `nil` for other errors.
    private static func unknownFlag(_ error: any Error) -> StartError? {
        let parts = message(for: error).split(separator: "'", maxSplits: 2)
        guard parts.count > 1, parts[0] == "Unknown option ", parts[1].hasPrefix("--") else { return nil }
        let others = [
            "config", "check-config", "print-config", "restore", "accept-head", "accept-clock", "migrate-to", "version",
            "help",
        ]
        let flags = (Setting.allCases.map(\.rawValue) + others).map { "--\($0)" }
        let flag = String(parts[1])
        let advice = NearestName.advice(for: flag, among: flags, otherwise: Setting.advice)
        return StartError(.usage, "\(EscapedText.of(flag)): no such flag; \(advice)")
    }

    /// Runs the agent; every error is reported in the same way.
    private func runOrLeave() async {
        do {
            try await run()
        } catch {
            Self.leave(StartError(error), SettingSource.logFormat(flags, ProcessEnvironment.variables))
        }
    }

    func run() async throws {
        guard !printConfig else { return try Self.say(ConfigText.sample) }
        try expectOneTask()
        let variables = ProcessEnvironment.variables
        let settings = try Settings(flags: flags, environment: variables, isMigration: migrateTo != nil)
        guard !checkConfig else {
            let source = try SettingSource(flags: flags, environment: variables)
            try SettingsCheck(settings: settings, source: source).report()
            return try Self.say(ConfigText.found(in: source))
        }
        if let restore { return try AgentProcess(settings).restore(restore) }
        if let migrateTo {
            let source = try SettingSource(flags: flags, environment: variables)
            return try await AgentProcess(settings).migrate(
                to: migrateTo, source, .files(in: settings.stateDirectory))
        }
        // Before another thread reads the environment.
        if let tcti = settings.tpmTCTI { ExternalKeys.reachTPM(by: tcti) }
        if acceptHead || acceptClock {
            let accepted: AgentProcess.Accepted = acceptHead ? .head : .clock
            return try await AgentProcess(settings).accept(accepted, .files(in: settings.stateDirectory))
        }
        try await AgentProcess(settings).serve(.files(in: settings.stateDirectory))
    }

    /// Refuses more than one flag that replaces the normal start.
    private func expectOneTask() throws(StartError) {
        let all = [
            ("--restore", restore != nil), ("--accept-head", acceptHead), ("--accept-clock", acceptClock),
            ("--migrate-to", migrateTo != nil),
        ]
        let given = all.filter(\.1).map(\.0)
        guard given.count <= 1 else {
            throw StartError(.usage, "\(given.joined(separator: " and ")) cannot be given together: give one of them")
        }
    }

    /// Prints the requested text on standard output; fails if not all of it can be written.
    private static func say(_ text: String) throws(StartError) {
        do throws(SystemError) {
            try StandardStream.output.writeAll(text)
        } catch {
            throw StartError(.ioError, "the output could not be written: \(error)")
        }
    }

    private static func leave(_ error: StartError, _ format: Settings.LogFormat) -> Never {
        let message = error.message.split(whereSeparator: \.isNewline).joined(separator: " ")
        switch format {
        case .text: StandardStream.error.log((StandardStream.error.isJournal ? "<3>" : "") + "Error: " + message)
        case .json:
            let log = Logger(label: "oob-agent") { _ in LineLogHandler(LogTuning(LineFormat(.json), .error)) }
            log.error("ended by an error", metadata: ["reason": "\(message)", "status": "\(error.status.rawValue)"])
        }
        StandardStream.error.finish()
        try? ProcessEnvironment.serviceManager?.send([.status("Not started: \(message)")])
        Glibc.exit(error.status.rawValue)
    }
}
