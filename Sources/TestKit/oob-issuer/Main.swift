import ArgumentParser
import LinuxProcess
import Versioning

/// The sandbox issuer, for a developer without an issuer.
@main
struct OOBIssuer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "oob-issuer",
        abstract: "A sandbox issuer: an issuer's backend, a small ACS and a merchant in one, for demos and tests.",
        discussion: """
            Exit status:
               0  done; of purchase --wait: authenticated
               1  failed, refused, or not authenticated
              64  wrong usage
              69  no sandbox answers; of serve: another program has the address
              71  the system allows too few open files
            """,
        version: SoftwareVersion.text,
        subcommands: [
            Serve.self, Code.self, Purchase.self, List.self, Show.self, CReq.self, Cancel.self, Replay.self,
            Revoke.self, Faults.self, Clock.self,
        ])

    static func main() async {
        BrokenPipe.ignoreSignal()
        FileLimit.raise(for: "oob-issuer")
        ProgramOutput.keepClosedStreams()
        await main(NegativeTime.escaped(Array(CommandLine.arguments.dropFirst())))
    }
}
