import ArgumentParser
import LinuxProcess
import Versioning

/// The conformance kit, for developers of an issuer's back end or of an approver.
@main
struct OOBConform: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "oob-conform",
        abstract: "The conformance kit of the issuer protocol: it judges messages, issuers and approvers.",
        discussion: """
            Exit status:
               0  all passed; what was not checked or not shown does not count
               1  a rule is broken
               2  it could not be run
              64  wrong usage
              65  a file does not hold what it must
              66  a file cannot be read
              71  the system allows too few open files
            """,
        version: SoftwareVersion.text,
        subcommands: [
            IssuerCommand.self, ApproverCommand.self, InitCommand.self, CheckRequest.self, CheckAssertion.self,
        ])

    static func main() async {
        BrokenPipe.ignoreSignal()
        FileLimit.raise(for: "oob-conform")
        ProgramOutput.keepClosedStreams()
        await main(nil)
    }
}
