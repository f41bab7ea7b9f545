import ArgumentParser
import Glibc
import HTTPServing
import LineLog
import LinuxProcess
import Logging
import Sandbox

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve the issuer protocol, the sandbox's own calls, and its page for a browser.",
        usage: "oob-issuer serve [<options>]",
        discussion: """
            Open the address that it prints in a browser, to make purchases and see what comes of them. Who can reach the \
            port can use the page and the calls: serve on loopback only.
            """)

    @Option(help: ArgumentHelp("Where to listen; port 0 is the system's choice.", valueName: "host:port"))
    var listen = "localhost:8080"

    @Option(help: ArgumentHelp("The certificate chain, PEM.", valueName: "file"), completion: .file())
    var tlsCert: String?

    @Option(help: ArgumentHelp("The certificate's private key, PEM.", valueName: "file"), completion: .file())
    var tlsKey: String?

    @Option(
        help: ArgumentHelp("A SQLite file to keep everything in; without it all is in memory.", valueName: "file"),
        completion: .file())
    var database: String?

    @Option(help: ArgumentHelp("The issuer's URL, if it is not the address it listens on.", valueName: "url"))
    var publicURL: String?

    @Option(help: ArgumentHelp("Let calls fail on purpose.", discussion: FaultSpec.help, valueName: "spec"))
    var faults: String?

    @Flag(help: "Serve with a clock that oob-issuer clock advance moves ahead, for tests.")
    var testClock = false

    @Option(
        help: ArgumentHelp("Trust these roots, PEM, when it pushes, not the system's.", valueName: "file"),
        completion: .file())
    var pushCaFile: String?

    @Flag(help: "Push to whatever host an authenticator names; without it, to loopback only.")
    var pushBeyondLoopback = false

    /// Builds the configuration here, so that an error shows the usage of this command.
    func validate() throws { _ = try sandbox() }

    func run() async throws {
        let configuration = try sandbox()
        // The database stores tokens for a while: only this user may read its files.
        umask(0o077)
        // Each fault is logged at level info.
        let tuning = LogTuning(.textOnStandardError, faults == nil ? .warning : .info)
        let logger = Logger(label: "oob-issuer") { _ in LineLogHandler(tuning) }
        defer { StandardStream.error.finish() }
        do {
            try await SandboxServer(configuration, logger: logger).serve { issuer in
                // The server keeps running even if this line cannot be written.
                StandardStream.output.log("listening on \(issuer)")
            }
        } catch let error as ListenError {
            output.message(error.description)
            throw error.isTaken ? ExitCode.unavailable : ExitCode.failure
        } catch {
            output.message("cannot serve on \(listen): \(error)")
            throw ExitCode.failure
        }
    }

    private func sandbox() throws -> SandboxConfiguration {
        guard let address = ListenAddress(listen, hosts: .addressesAndNames) else {
            throw ValidationError(
                "--listen must be HOST:PORT with a port of 0 to 65535, such as localhost:8080; it is \(listen)")
        }
        // An issuer's URL has a name, or an IPv4 address: ``IssuerURL``.
        guard address.isLoopback || publicURL != nil || !address.host.contains(":") else {
            throw ValidationError(
                "--listen \(listen) is an IPv6 address beyond loopback: give the name that clients use in --public-url")
        }
        guard address.isLoopback || tlsCert != nil || publicURL != nil else {
            throw ValidationError(
                "--listen \(listen) is beyond loopback: give --tls-cert and --tls-key, or a proxy's --public-url")
        }
        let files = try tls()
        let faults = try faultSpec()
        do {
            return try SandboxConfiguration(
                listen: address, database: database, tls: files, publicURL: publicURL, faults: faults,
                hasTestClock: testClock,
                push: .init(caFile: pushCaFile, policy: pushBeyondLoopback ? .anywhere : .loopbackOnly))
        } catch { throw ValidationError("--public-url: \(error)") }
    }

    private func faultSpec() throws -> FaultSpec? {
        do throws(FaultSpec.ParseError) {
            return try faults.map { text throws(FaultSpec.ParseError) in try FaultSpec(text) }
        } catch { throw ValidationError("--faults: \(error)") }
    }

    private func tls() throws -> SandboxConfiguration.TLSFiles? {
        switch (tlsCert, tlsKey) {
        case (let certificate?, let key?): return .init(certificate: certificate, key: key)
        case (nil, nil): return nil
        default: throw ValidationError("--tls-cert and --tls-key go together")
        }
    }
}

struct SandboxOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The sandbox to talk to.", valueName: "url"))
    var issuer = "http://localhost:8080"

    @Flag(help: "Print JSON, on one line.")
    var json = false

    func validate() throws { _ = try client() }

    func client() throws -> SandboxClient {
        do { return try SandboxClient(issuer: issuer) } catch { throw ValidationError("--issuer: \(error)") }
    }
}
