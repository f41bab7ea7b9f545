import ArgumentParser
import Control
import FoundationEssentials
import Prompting

struct Prompt: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prompt",
        abstract: "Show requests as they come, one at a time, and ask for each.",
        usage: "oobctl prompt [<options>]",
        discussion: """
            Answers are a, d, f, s or ?, and Enter: approve, deny, deny as fraud, skip, help. What was typed before a \
            question is thrown away. Skipped requests come again when no other waits. Ctrl-C, the end of input and SIGTERM decide \
            nothing and exit 1.

            Examples:
              oobctl prompt                one request after the other
              oobctl prompt --once         one decision, with approve's exit status
              oobctl prompt --open         return URLs are opened, not printed
              oobctl prompt --plain        for a screen reader
              url=$(oobctl prompt --once)  the return URL in a variable
            """)

    @Flag(help: "End after one decision, with the exit status that approve and deny have.")
    var once = false

    @Flag(help: "Only add lines, and use words instead of symbols: for a screen reader.")
    var plain = false

    @Option(help: ArgumentHelp("Wait for an agent that went away, 0 to 3600.", valueName: "seconds"))
    var reconnect = 60

    @OptionGroup var returning: ReturnOptions
    @OptionGroup var enrollment: EnrollmentOption
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try Usage.expect(reconnect, in: 0...3_600, option: "--reconnect")
    }

    func run() async throws {
        try await common.withAgent { _, output throws(ClientError) in
            guard let terminal = PromptTerminal() else { throw .refused(.noTerminal) }
            let traits = ScreenTraits(
                environment: ProcessInfo.processInfo.environment, columns: terminal.columns, isPlain: plain)
            let session = PromptSession(traits: traits, endsAfterOne: once, enrollment: enrollment.enrollment)
            let socket = common.socket
            let agent = PromptAgent(
                client: { () throws(ClientError) in
                    try ControlClient(socketFlag: socket, environment: ProcessInfo.processInfo.environment)
                }, enrollment: enrollment.enrollment, patience: reconnect)
            var run = PromptRun(
                session, traits, agent: agent, terminal: terminal, output: output, returning: returning)
            return try await run.prompt()
        }
    }
}

extension ControlError {
    fileprivate static var noTerminal: ControlError {
        ControlError(
            .invalidArgument,
            "prompt asks a person, and standard input is no terminal: in a script use oobctl approve or deny, "
                + "with --next --wait, and oobctl watch --json for what happens.")
    }
}
