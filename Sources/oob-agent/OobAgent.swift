import ArgumentParser
import Glibc
import Keys
import LinuxProcess
import Versioning

/// The agent: the one program that holds keys and the database.
///
/// It runs in the foreground, says on standard output when it is ready, and logs to standard error.
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
        version: SoftwareVersion.text)

    @OptionGroup var flags: SettingFlags

    @Flag(
        name: .customLong("check-config"),
        help: "Check all settings, say what is wrong, or which are set and where, and exit.")
    var checkConfig = false

    @Flag(name: .customLong("print-config"), help: "Print a config file with every setting, commented out, and exit.")
    var printConfig = false

    @Option(
        help: ArgumentHelp(
            "Unpack a backup into the state directory, which must be empty, and exit.", valueName: "file"),
        completion: .file())
    var restore: String?

    static func main() async {
        SecretVariables.remove()
        _ = ProcessEnvironment.serviceManager
        do {
            try ProcessHardening.apply()
        } catch {
            leave(StartError(.osError, "this process could not be protected: \(error)"))
        }
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let error as StartError {
            leave(error)
        } catch {
            exit(withError: error)
        }
    }

    func run() async throws {
        guard !printConfig else { return StandardStream.output.write(ConfigText.sample) }
        let variables = ProcessEnvironment.variables
        let settings = try Settings(flags: flags, environment: variables)
        guard !checkConfig else {
            return StandardStream.output.write(
                ConfigText.found(in: try SettingSource(flags: flags, environment: variables)))
        }
        if let restore { return try AgentProcess(settings).restore(restore) }
        // Before another thread reads the environment.
        if let tcti = settings.tpmTCTI { OutsideKeys.reachTPM(by: tcti) }
        try await AgentProcess(settings).run()
    }

    private static func leave(_ error: StartError) -> Never {
        let level = ProcessEnvironment.variables["JOURNAL_STREAM"] == nil ? "" : "<3>"
        StandardStream.error.write("\(level)oob-agent: \(error.message)")
        try? ProcessEnvironment.serviceManager?.tell([.status("Not started: \(error.message)")])
        Glibc.exit(error.status.rawValue)
    }
}
