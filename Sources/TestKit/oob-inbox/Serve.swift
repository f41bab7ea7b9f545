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
            A link works once and for ten minutes, in the browser that follows it. Enter prints the next one, and so does \
            SIGUSR1. A session ends after five minutes without activity, and after eight hours; if the agent has test \
            enrollments alone, links and sessions have eight hours. The page answers the user who runs this program, and \
            root: the kernel says whose a connection is. For the agent that user decides. At a terminal on a desktop the \
            first link is opened as well.
            """)

    @Option(
        help: ArgumentHelp(
            "Where to listen: on the loopback, or with --allow-peer any anywhere; port 0 is the system's choice.",
            valueName: "host:port"))
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

    @Option(
        help: ArgumentHelp(
            "Answer this user's connections too, such as a proxy's; any: everybody's, for containers (repeatable).",
            valueName: "user"))
    var allowPeer: [String] = []

    @OptionGroup var agent: AgentOptions

    @OptionGroup var links: LinkOptions

    @Flag(help: "Only show; the page has no buttons.")
    var look = false

    @Flag(inversion: .prefixedNo, help: "Open the first link in a browser; the default at a terminal on a desktop.")
    var open: Bool?

    func validate() throws { _ = (try address(), try peers()) }

    func run() async throws {
        // PINs and sessions pass through this process.
        try? ProcessHardening.apply()
        let logger = Logger(label: "oob-inbox") { _ in LineLogHandler(LogTuning(.textOnStandardError, .warning)) }
        let (address, peers) = (try address(), try peers())
        // From here on SIGUSR1 does not end the process; a signal during the start is lost.
        signal(SIGUSR1, SIG_IGN)
        if peers == .anyone {
            StandardStream.error.log(
                "oob-inbox: warning: --allow-peer any: whoever can connect to \(listenSocket ?? listen) is answered, and only "
                    + "the link keeps others out")
        }
        let server = InboxServer(
            agent: agent.client, at: address, peers: peers, schemes: try links.schemes(), mayDecide: !look,
            logger: logger, now: { .now })
        if case .socket(let path) = address.place {
            // Binding a socket's path takes it from an earlier owner, so a lock claims the path first.
            do throws(StateLockError) {
                try StateLock.acquire(file: path + ".lock")
            } catch { throw failure("cannot listen on \(path): \(error)", 69) }
        }
        let opener = opens(address) ? LinkOpener() : nil
        defer { opener?.remove() }
        do {
            try await server.serve(asked: TerminalKey.presses(saying: Self.hint)) { link in
                StandardStream.output.log(link)
                if let problem = opener?.open(link) {
                    StandardStream.error.log("oob-inbox: no browser was opened: \(problem)")
                }
            }
        } catch {
            throw failure("\(error)", 69)
        }
        StandardStream.output.finish()
        StandardStream.error.finish()
    }

    /// The hint at a terminal.
    private static let hint = "oob-inbox: a link works once, for a while: press Enter for the next one"

    private func opens(_ address: InboxAddress) -> Bool {
        if let open { return open }
        guard case .tcp = address.place, isatty(STDOUT_FILENO) == 1 else { return false }
        let environment = ProcessInfo.processInfo.environment
        return ["DISPLAY", "WAYLAND_DISPLAY"].contains { !(environment[$0] ?? "").isEmpty }
    }

    /// Returns the admitted users: the inbox's own user, root, and the named users.
    private func peers() throws -> PeerGate.Rule {
        guard !allowPeer.contains("any") else { return .anyone }
        let named = try allowPeer.map { name in
            guard let user = Accounts.user(name) else {
                throw ValidationError("--allow-peer: there is no user \(name.debugDescription) on this host.")
            }
            return user
        }
        return .users(Set(named + [0, geteuid()]))
    }

    private func address() throws -> InboxAddress {
        let origin = try publicUrl.map { text in
            guard let origin = PageOrigin(text) else {
                throw ValidationError("--public-url takes an origin such as https://inbox.example, without a path.")
            }
            return origin
        }
        if let listenSocket {
            guard let origin else { throw ValidationError("--listen-socket goes with --public-url.") }
            guard listenSocket.utf8.count <= 103, !listenSocket.isEmpty else {
                throw ValidationError("--listen-socket takes a path of at most 103 bytes.")
            }
            return InboxAddress(.socket(listenSocket), publicOrigin: origin)
        }
        guard let address = ListenAddress(listen, hosts: .addresses) else {
            throw ValidationError("--listen takes localhost:PORT, or an IP address with a port.")
        }
        guard address.isLoopback || allowPeer.contains("any") else {
            throw ValidationError(
                "--listen takes an address of the loopback; any other goes with --allow-peer any, such as in a container."
            )
        }
        return InboxAddress(.tcp(address), publicOrigin: origin)
    }
}
