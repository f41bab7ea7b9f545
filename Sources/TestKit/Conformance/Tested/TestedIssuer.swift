import IssuerProtocol
import StrictJSON
import TextAndTime

/// A tested issuer: its URL, and the commands that act as its bank and its ACS.
package struct TestedIssuer: Sendable {
    /// The names of the commands.
    package static let commands = ["code", "purchase", "cancel", "outcome", "clock"]

    let url: IssuerURL
    let commands: [String: TestedCommand]

    /// Reads the file at `node`, if there is one; `url` and the commands in `given` take precedence.
    package init(
        _ node: CaseNode?, url: String?, given: [String: String]
    ) throws(CaseFileError) {
        let members = try node?.members(["issuer"] + Self.commands) ?? [:]
        let written = try members["issuer"]?.text()
        guard let text = url ?? written else {
            throw CaseFileError("name the issuer's URL, as an argument or as `issuer:` in the file of --config")
        }
        do { self.url = try IssuerURL(written: text) } catch {
            guard url == nil, let member = members["issuer"] else {
                throw CaseFileError("\(EscapedText.of(text)): \(error)")
            }
            throw member.error("\(error)")
        }
        var commands: [String: TestedCommand] = [:]
        for name in Self.commands {
            if let command = given[name] {
                commands[name] = .shell(command)
            } else if let member = members[name] {
                commands[name] = try TestedCommand(member)
            }
        }
        for name in ["code", "purchase"] where commands[name] == nil {
            throw CaseFileError(
                "there is no command for `\(name)`: set it in the file of --config, or as --\(name)-command")
        }
        self.commands = commands
    }

    /// The URL as text.
    package var name: String { url.text }

    func has(_ command: String) -> Bool { commands[command] != nil }

    /// Runs a command.
    ///
    /// - Throws: ``CaseEnd/notShown(_:)`` if the command is missing.
    func output(_ name: String, _ input: JSONObject, wire: Wire, trace: Trace) async throws -> CommandOutput {
        guard let command = commands[name] else { throw CaseEnd.notShown("there is no command for `\(name)`") }
        return try await command.output(
            name, of: input, variables: ["ISSUER": url.text], wire: wire, trace: trace)
    }

    /// Gets a new enrollment code.
    func code(wire: Wire, trace: Trace) async throws -> String {
        let output = try await output("code", [:], wire: wire, trace: trace)
        var code = output.text
        for name in ["code", "enrollmentCode"] { code = (try? output.object?.string(name)) ?? code }
        if code.hasPrefix("oob-enroll:") {
            code =
                code.split(separator: "&").flatMap { $0.split(separator: "?") }
                .first { $0.hasPrefix("code=") }.map { String($0.dropFirst(5)) } ?? code
            code = PercentEncoding.decode(code).flatMap { String(validating: $0, as: UTF8.self) } ?? code
        }
        let first = code.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        guard (1...256).contains(first.utf8.count), !first.hasPrefix("{") else {
            throw CaseEnd.broken(
                "the command for `code` printed no enrollment code: \(EscapedText.of(output.text))")
        }
        wire.secrets.add(first)
        return first
    }
}
