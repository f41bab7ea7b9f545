import ArgumentParser
import Control
import Prompting

/// The options of a persona, also for `oobctl enroll`.
struct PersonaOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Answer a request so many seconds after it came, 0 to 86400.", valueName: "seconds"))
    var delay: Int?

    @Option(help: ArgumentHelp("Answer so many requests, and let the next ones wait.", valueName: "n"))
    var times: Int?

    @Option(help: ArgumentHelp("How likely it answers a request, above 0 and at most 1.", valueName: "odds"))
    var odds: Double?

    @Option(help: ArgumentHelp("Draw the odds with this number: the same again each time.", valueName: "n"))
    var seed: Int?

    func validate() throws {
        guard odds.map({ $0 > 0 && $0 <= 1 }) ?? true else {
            throw ValidationError("--odds takes a number above 0 and at most 1.")
        }
    }

    var isEmpty: Bool { delay == nil && times == nil && odds == nil && seed == nil }

    func command(_ persona: String) -> PersonaCommand {
        PersonaCommand(persona: persona, delay: delay, times: times, odds: odds, seed: seed)
    }
}

/// `oobctl persona`.
struct Persona: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "persona",
        abstract: "Have a script play the cardholder of a test enrollment.",
        discussion: """
            For enrollments of authnType test only. An agent for production has no personas.

            Examples:
              oobctl persona list
              oobctl persona set badSignature --enrollment kitchen --times 1
              oobctl persona clear --enrollment kitchen
            """,
        subcommands: [Set.self, List.self, Clear.self])

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set", abstract: "Set who answers the requests of an enrollment from now on.",
            usage: "oobctl persona set <name> --enrollment <name> [<options>]")

        @Argument(help: "The persona; `oobctl persona list` has them.")
        var name: String

        @Option(help: ArgumentHelp("The enrollment's name or ID.", valueName: "name"), completion: .enrollments)
        var enrollment: String

        @OptionGroup var options: PersonaOptions
        @OptionGroup var common: CommonOptions

        func validate() throws { try Usage.checkEnrollment(enrollment) }

        func run() async throws {
            try await common.withAgent { client, output throws(ClientError) in
                let set = try await client.setPersona(options.command(name), of: enrollment)
                try output.data(set) { "\(TerminalText.escaped($0.enrollment)) \(TerminalText.escaped($0.persona))" }
                return .done
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the personas that there are, and those that are set.")

        @OptionGroup var common: CommonOptions

        func run() async throws {
            try await common.read { client, output throws(ClientError) in
                let personas = try await client.personas()
                try output.data(personas) { .blocks([Self.known($0.known), Self.set($0.set)]) }
                return .done
            }
        }

        private static func known(_ personas: [PersonaChoiceView]) -> [ScreenLine] {
            let heading: [Table.Column] = [.init("PERSONA"), .init("GROUP", .text), .init("WHAT IT DOES", .text)]
            return Table(heading: heading, rows: personas.map { [$0.name, $0.group, $0.summary] })
                .lines(Output.columns, isUTF8: Output.isUTF8)
        }

        private static func set(_ personas: [PersonaView]) -> [ScreenLine] {
            let heading: [Table.Column] = [
                .init("ENROLLMENT", .id), .init("PERSONA"), .init("DELAY", .text), .init("TIMES", .text),
                .init("ODDS", .text), .init("SEEN", .text), .init("PLAYED", .text),
            ]
            return Table(heading: heading, rows: personas.map(cells)).lines(Output.columns, isUTF8: Output.isUTF8)
        }

        private static func cells(_ persona: PersonaView) -> [String] {
            let delay = persona.delay.map { "\($0) s" } ?? ""
            let times = persona.times.map(String.init) ?? "all"
            let odds = persona.odds.map { "\($0)" } ?? "1"
            return [
                persona.enrollment, persona.persona, delay, times, odds, String(persona.seen), String(persona.played),
            ]
        }
    }

    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear", abstract: "Let nobody play an enrollment's cardholder any more.",
            usage: "oobctl persona clear --enrollment <name>")

        @Option(help: ArgumentHelp("The enrollment's name or ID.", valueName: "name"), completion: .enrollments)
        var enrollment: String

        @OptionGroup var common: CommonOptions

        func validate() throws { try Usage.checkEnrollment(enrollment) }

        func run() async throws {
            try await common.withAgent { client, output throws(ClientError) in
                let cleared = try await client.clearPersona(of: enrollment)
                try output.data(cleared) { _ in "" }
                if !cleared.wasSet { output.message("No persona was set for it.") }
                return .done
            }
        }
    }
}

/// `oobctl rules`.
struct Rules: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rules", abstract: "The rules that decide requests of test enrollments.",
        subcommands: [Reload.self])

    struct Reload: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reload", abstract: "Read the rules of the agent's config file again.")

        @OptionGroup var common: CommonOptions

        func run() async throws {
            try await common.withAgent { client, output throws(ClientError) in
                let reloaded = try await client.reloadRules()
                try output.data(reloaded) { _ in "" }
                output.message(reloaded.rules == 1 ? "There is 1 rule." : "There are \(reloaded.rules) rules.")
                return .done
            }
        }
    }
}

struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say which persona or rule answers a request of a test enrollment, and why.",
        usage: """
            oobctl explain <id> [<options>]
            oobctl explain --all [<options>]
            """)

    @Argument(
        help: "The request's ID, its jti, its acsTransId, or a unique prefix of one.", completion: .allRequests)
    var id: String?

    @Flag(help: "All requests that are kept: the newest, at most as many as --limit says.")
    var all = false

    @Option(help: ArgumentHelp("At most this many, 1 to 1000.", valueName: "n"))
    var limit = 100

    @OptionGroup var enrollment: EnrollmentOption
    @OptionGroup var common: CommonOptions

    mutating func validate() throws {
        try Usage.expect(limit, in: oobctl.List.limitRange, option: "--limit")
        guard (id == nil) == all else { throw ValidationError("Give one of a request's ID and --all.") }
        id = id.map(DashedIDs.unescaped)
        if let id { _ = try Usage.id(id) }
    }

    func run() async throws {
        try await common.read { client, output throws(ClientError) in
            if let id {
                let explained = try await client.explanation(id: id, enrollment: enrollment.enrollment)
                try output.data(explained) { Self.lines([$0]) }
            } else {
                let listing = RequestListing(all: true, limit: limit, enrollment: enrollment.enrollment)
                let explained = try await client.explanations(listing)
                try output.data(explained, lines: Self.lines)
                if explained.isEmpty { output.message("There are no requests.") }
            }
            return .done
        }
    }

    private static func lines(_ explanations: [ExplanationView]) -> [ScreenLine] {
        let heading: [Table.Column] = [
            .init("REQUEST", .id), .init("BY"), .init("PERSONA", .text), .init("RULE", .text), .init("WHEN", .text),
            .init("WHY", .text),
        ]
        let rows = explanations.map {
            [$0.request, $0.by, $0.persona ?? "", $0.rule ?? "", $0.settled ? "settled" : "now", $0.reason]
        }
        return Table(heading: heading, rows: rows).lines(Output.columns, isUTF8: Output.isUTF8)
    }
}
