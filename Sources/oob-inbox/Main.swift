import ArgumentParser
import Control
import FoundationEssentials
import LineLog
import LinuxProcess
import Versioning

/// The page of an agent's requests.
@main
struct OOBInbox: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "oob-inbox",
        abstract: "A page in a browser on which an agent's requests are looked at, approved and denied.",
        version: SoftwareVersion.text, subcommands: [Serve.self, Export.self], defaultSubcommand: Serve.self)
}

/// How the agent is found.
struct AgentOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The agent's control socket (OOB_AGENT_SOCKET).", valueName: "path"), completion: .file())
    var socket: String?

    var client: @Sendable () throws(ClientError) -> ControlClient {
        let (socket, environment) = (socket, ProcessInfo.processInfo.environment)
        return { () throws(ClientError) in try ControlClient(socketFlag: socket, environment: environment) }
    }
}

/// Ends the program with one line on standard error.
func failure(_ message: String, _ status: Int32) -> ExitCode {
    StandardStream.error.say("oob-inbox: \(message)")
    StandardStream.output.finish()
    StandardStream.error.finish()
    return ExitCode(status)
}
