import ArgumentParser
import LinuxProcess
import Sandbox
import TextAndTime

struct Clock: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say what time it is for the sandbox, or move its clock ahead.",
        subcommands: [Show.self, Advance.self], defaultSubcommand: Show.self)

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the time, and whether the clock is a test's.")

        @OptionGroup var sandbox: SandboxOptions

        func run() async throws {
            let client = try sandbox.client()
            let report = try await reporting { () throws(SandboxClient.CallError) in try await client.clock() }
            try output.data(sandbox.json ? report.json : report.text)
        }
    }

    struct Advance: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Move the clock ahead, of a sandbox that was started with serve --test-clock.",
            discussion: """
                What is due by then happens at once: purchases and codes expire, waiting calls are answered, pushes are \
                tried again. A clock goes only forwards, 400d in all. The agent has a clock of its own: advance both, the \
                agent's first.

                Examples:
                  oobctl clock advance 10m && oob-issuer clock advance 10m
                  oob-issuer clock advance 1h30m
                """)

        @Argument(
            help: ArgumentHelp("How far: whole numbers with d, h, m or s, such as 10m or 1h30m.", valueName: "duration")
        )
        var duration: String

        @OptionGroup var sandbox: SandboxOptions

        func validate() throws { _ = try advance() }

        func run() async throws {
            let (client, advance) = (try sandbox.client(), try advance())
            let report = try await reporting { () throws(SandboxClient.CallError) in
                try await client.advanceClock(by: advance)
            }
            try output.data(sandbox.json ? report.json : report.text)
        }

        private func advance() throws(ValidationError) -> ClockAdvance {
            do throws(ClockAdvance.Refusal) { return try ClockAdvance(NegativeTime.unescaped(duration)) } catch {
                throw ValidationError("<duration>: \(error)")
            }
        }
    }
}

/// Escaping of a negative time such as `-5m`, which the parser would take for options.
///
/// The command then refuses it with a message of its own.
enum NegativeTime {
    /// Escapes negative times in the words of a command line.
    static func escaped(_ words: [String]) -> [String] {
        guard words.starts(with: ["clock", "advance"]) else { return words }
        return words.map { word in
            let isTime = word.hasPrefix("-") && word.dropFirst().first?.isNumber == true
            return isTime ? "\\" + word : word
        }
    }

    static func unescaped(_ word: String) -> String { word.hasPrefix("\\-") ? String(word.dropFirst()) : word }
}
