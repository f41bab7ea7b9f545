import ArgumentParser
import Control
import Prompting

/// `oobctl clock`.
struct Clock: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock",
        abstract: "What the agent's clock says, and how far a test has advanced it.",
        subcommands: [Show.self, Advance.self], defaultSubcommand: Show.self)

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Say what the agent's clock says, and whether it is a test's.")

        @OptionGroup var common: CommonOptions

        func run() async throws {
            try await common.read { client, output throws(ClientError) in
                try output.data(try await client.clock(), lines: Clock.lines)
                return .done
            }
        }
    }

    struct Advance: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "advance",
            abstract: "Advance the clock of an agent that runs with --test-clock.",
            discussion: """
                What is due by then happens at once: requests expire, and what failed is tried again. A clock goes only \
                forwards, 400d in all. The sandbox has a clock of its own: advance both, the agent's first.

                Examples:
                  oobctl clock advance 10m && oob-issuer clock advance 10m
                  oobctl clock advance 1h30m
                """)

        @Argument(help: "How far: whole numbers with the units d, h, m and s, such as 10m or 1h30m.")
        var duration: String

        @OptionGroup var common: CommonOptions

        mutating func validate() throws {
            duration = DashedIDs.unescaped(duration)
            _ = try command()
        }

        func run() async throws {
            let command = try command()
            try await common.withAgent { client, output throws(ClientError) in
                try output.data(try await client.advanceClock(command), lines: Clock.lines)
                return .done
            }
        }

        private func command() throws -> ClockCommand {
            try Usage.checked { () throws(ControlError) in try ClockCommand(duration: duration) }
        }
    }

    private static func lines(_ clock: ClockView) -> [ScreenLine] {
        let ahead = clock.isTest ? "a test's, \(clock.offsetText) ahead of the machine's" : "the machine's"
        return Fields([("Now", clock.now), ("Clock", ahead)]).lines
    }
}
