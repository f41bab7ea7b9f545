import ArgumentParser
import Control
import FoundationEssentials
import LineLog
import LinuxProcess
import Versioning

/// The command for the inbox: the page of an agent's requests.
@main
struct OOBInbox: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "oob-inbox",
        abstract: "A page in a browser on which an agent's requests are looked at, approved and denied.",
        discussion: """
            Without a command it serves the page, and prints a link to it.

            Exit status:
               0  it was stopped; of export: the page is written
               1  of export: the file cannot be written, or the evidence cannot be read
               3  of export: there is no such request
              64  wrong usage
              69  the address cannot be listened on; of export: the agent cannot be reached
              71  the system allows too few open files
            """,
        version: SoftwareVersion.text, subcommands: [Serve.self, Export.self], defaultSubcommand: Serve.self)

    static func main() async {
        BrokenPipe.ignoreSignal()
        FileLimit.raise(for: "oob-inbox")
        await main(nil)
    }
}

/// The options that select the agent.
struct AgentOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The agent's control socket (OOB_AGENT_SOCKET).", valueName: "path"), completion: .file())
    var socket: String?

    var client: @Sendable () throws(ClientError) -> ControlClient {
        let (socket, environment) = (socket, ProcessInfo.processInfo.environment)
        return { () throws(ClientError) in try ControlClient(socketFlag: socket, environment: environment) }
    }
}

/// The options for the URL schemes of return URLs that become links.
struct LinkOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Make a link of return URLs of this scheme too, such as merchantapp (OOB_OPEN_SCHEMES, with commas).",
            valueName: "scheme"))
    var openScheme: [String] = []

    func validate() throws { _ = try schemes() }

    func schemes() throws -> OpenSchemes {
        do throws(ControlError) {
            return try OpenSchemes(openScheme, environment: ProcessInfo.processInfo.environment)
        } catch { throw ValidationError(error.message) }
    }
}

/// Prints one line on standard error, and returns the exit status for the caller to throw.
func failure(_ message: String, _ status: Int32) -> ExitCode {
    StandardStream.error.log("oob-inbox: \(message)")
    StandardStream.output.finish()
    StandardStream.error.finish()
    return ExitCode(status)
}
