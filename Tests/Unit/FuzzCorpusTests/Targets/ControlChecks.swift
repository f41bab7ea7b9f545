import AgentConfig
import TextAndTime

@testable import Control

/// What people and programs on this machine hand in: calls of the control API, enrollment links, the config.
enum ControlChecks {
    static func command(_ input: [UInt8]) throws {
        try same(input, as: EnrollCommand.self)
        try same(input, as: UnenrollCommand.self)
        try same(input, as: FetchCommand.self)
        try same(input, as: DecideCommand.self)
        try same(input, as: PINChangeCommand.self)
    }

    static func enrollLink(_ input: [UInt8]) throws {
        let decoded = PercentEncoding.decode(PercentEncoding.encode(input.text))
        try mustHold(decoded == Array(input.text.utf8), "what was percent-encoded decodes to the same")
        let link: EnrollLink
        do throws(ControlError) {
            link = try EnrollLink(input.text)
        } catch {
            return try mustHold(error.token == .invalidArgument, "a bad link is an invalid argument")
        }
        try mustHold(input.count { $0 == UInt8(ascii: "&") } == 1, "a link has two parameters")
        let (issuer, code) = (PercentEncoding.encode(link.issuer), PercentEncoding.encode(link.code))
        let again = try EnrollLink("\(EnrollLink.scheme):?code=\(code)&issuer=\(issuer)")
        try mustHold(again == link, "a link reads the same in another order")
    }

    static func config(_ input: [UInt8]) throws {
        let names = ["state-dir", "socket", "log-level", "max-undecided", "proxy"]
        let config: ConfigFile
        do throws(ConfigError) {
            config = try ConfigFile(input, path: "agent.yaml", names: names, advice: "there are five")
        } catch {
            try mustHold(error.message.hasPrefix("agent.yaml:"), "an error names the file: \(error.message)")
            return try mustBeOneLine(error.message, "an error's message")
        }
        try mustHold(config.members.keys.allSatisfy(names.contains), "a member has a name that is known")
        for member in config.members.values { try mustBeOneLine(member.place, "a member's place") }
    }

    private static func same<Command: ControlCommand & Equatable>(_ input: [UInt8], as type: Command.Type) throws {
        let command: Command
        do throws(ControlError) {
            command = try ControlJSON.decode(input, as: type)
        } catch {
            try mustHold(error.token == .invalidArgument, "a bad body is an invalid argument")
            return try mustBeOneLine(error.message, "an error's message")
        }
        let again = try ControlJSON.decode(ControlJSON.encode(command), as: type)
        try mustHold(again == command, "what was written reads the same")
    }
}
