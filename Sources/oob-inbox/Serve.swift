import ArgumentParser
import FoundationEssentials
import Glibc
import HTTPServing
import Inbox
import LineLog
import LinuxProcess
import Logging
import PageServing

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve the page, and print a link to it.",
        usage: "oob-inbox [serve] [<options>]",
        discussion: """
            A link works once, in the browser that follows it; then the next one is printed. The page is for this machine \
            alone, and who decides on it is, for the agent, the user who runs this program. At a terminal on a desktop the \
            link is opened as well.
            """)

    @Option(
        help: ArgumentHelp("Where to listen, on the loopback; port 0 is the system's choice.", valueName: "host:port"))
    var listen = "localhost:8300"

    @Option(
        help: ArgumentHelp(
            "Listen on this Unix socket instead, for a proxy; goes with --public-url.", valueName: "path"),
        completion: .file())
    var listenSocket: String?

    @Option(
        help: ArgumentHelp(
            "Where the proxy serves the page, such as https://inbox.example.", valueName: "origin"))
    var publicUrl: String?

    @OptionGroup var agent: AgentOptions

    @Flag(help: "Only show; the page has no buttons.")
    var look = false

    @Flag(inversion: .prefixedNo, help: "Open the first link in a browser; the default at a terminal on a desktop.")
    var open: Bool?

    func validate() throws { _ = try address() }

    func run() async throws {
        // PINs and sessions pass through it.
        try? ProcessHardening.apply()
        let logger = Logger(label: "oob-inbox") { _ in LineLogHandler(LogTuning(.textOnStandardError, .warning)) }
        let address = try address()
        let server = InboxServer(agent: agent.client, at: address, mayDecide: !look, logger: logger)
        if case .socket(let path, _) = address {
            // Whoever binds a socket's name takes it from the one before; so it is claimed by a lock first.
            do throws(StateLockError) {
                try StateLock.acquire(file: path + ".lock")
            } catch { throw failure("cannot listen on \(path): \(error)", 69) }
        }
        let opener = opens(address) ? LinkOpener() : nil
        defer { opener?.remove() }
        do {
            try await server.run { link in
                StandardStream.output.say(link)
                if let problem = opener?.open(link) {
                    StandardStream.error.say("oob-inbox: no browser was opened: \(problem)")
                }
            }
        } catch {
            throw failure("\(error)", 69)
        }
        StandardStream.output.finish()
        StandardStream.error.finish()
    }

    private func opens(_ address: InboxAddress) -> Bool {
        if let open { return open }
        guard case .loopback = address, isatty(STDOUT_FILENO) == 1 else { return false }
        let environment = ProcessInfo.processInfo.environment
        return ["DISPLAY", "WAYLAND_DISPLAY"].contains { !(environment[$0] ?? "").isEmpty }
    }

    private func address() throws -> InboxAddress {
        if let listenSocket {
            guard let origin = publicUrl.flatMap({ PageOrigin($0) }) else {
                throw ValidationError(
                    "--listen-socket goes with --public-url, an origin such as https://inbox.example without a path.")
            }
            guard listenSocket.utf8.count <= 103, !listenSocket.isEmpty else {
                throw ValidationError("--listen-socket takes a path of at most 103 bytes.")
            }
            return .socket(path: listenSocket, origin: origin)
        }
        guard publicUrl == nil else { throw ValidationError("--public-url goes with --listen-socket.") }
        guard let address = ListenAddress(listen, hosts: .addresses), address.isLoopback else {
            throw ValidationError("--listen takes localhost:PORT, or an address of the loopback with a port.")
        }
        return .loopback(address)
    }
}
