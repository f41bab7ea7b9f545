import ArgumentParser
import Control
import FoundationEssentials
import Glibc
import HTTPServing
import Inbox
import LineLog
import LinuxProcess
import Logging
import Versioning

/// The page of an agent's requests.
@main
struct OOBInbox: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "oob-inbox",
        abstract: "A page in a browser on which an agent's requests are looked at, approved and denied.",
        usage: "oob-inbox [<options>]",
        discussion: """
            It prints a link. A link works once, in the browser that follows it; then the next one is printed. The page is \
            for this machine alone, and who decides on it is, for the agent, the user who runs this program.

            Exit status:
               0  it was stopped
              64  wrong usage
              69  the address cannot be listened on
            """,
        version: SoftwareVersion.text)

    @Option(
        help: ArgumentHelp("Where to listen, on the loopback; port 0 is the system's choice.", valueName: "host:port"))
    var listen = "localhost:8300"

    @Option(
        help: ArgumentHelp("The agent's control socket (OOB_AGENT_SOCKET).", valueName: "path"), completion: .file())
    var socket: String?

    @Flag(help: "Only show; the page has no buttons.")
    var look = false

    func validate() throws { _ = try address() }

    func run() async throws {
        // PINs and sessions pass through it.
        try? ProcessHardening.forbidDumps()
        let logger = Logger(label: "oob-inbox") { _ in LineLogHandler(LogTuning(.textOnStandardError, .warning)) }
        defer {
            StandardStream.output.finish()
            StandardStream.error.finish()
        }
        let (socket, environment) = (socket, ProcessInfo.processInfo.environment)
        let server = InboxServer(
            agent: { () throws(ClientError) in try ControlClient(socketFlag: socket, environment: environment) },
            listen: try address(), mayDecide: !look, logger: logger)
        do {
            try await server.run { link in StandardStream.output.say(link) }
        } catch {
            StandardStream.error.say("oob-inbox: cannot listen on \(listen): \(error)")
            throw ExitCode(69)
        }
    }

    private func address() throws -> ListenAddress {
        guard let address = ListenAddress(listen, hosts: .addresses), address.isLoopback else {
            throw ValidationError("--listen takes localhost:PORT, or an address of the loopback with a port.")
        }
        return address
    }
}
