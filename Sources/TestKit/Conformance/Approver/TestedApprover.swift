import IssuerProtocol
import StrictJSON

/// A tested approver: the commands by which a person or a script would use it.
package struct TestedApprover: Sendable {
    package static let commands = ["enroll", "approve", "deny", "pending", "fetch", "restart"]
    /// The commands that every run needs.
    private static let needed = ["enroll", "approve", "deny"]

    let commands: [String: TestedCommand]
    /// Whether its exponentPolicy is `warn`: it shows an exponent other than ISO 4217's with a warning.
    let warnsOfExponents: Bool

    /// Reads the file at `node`, if there is one; the commands in `given` take precedence.
    package init(_ node: CaseNode?, given: [String: String]) throws(CaseFileError) {
        let members = try node?.members(Self.commands + ["exponentPolicy"]) ?? [:]
        var commands: [String: TestedCommand] = [:]
        for name in Self.commands {
            if let command = given[name] {
                commands[name] = .shell(command)
            } else if let member = members[name] {
                commands[name] = try TestedCommand(member)
            }
        }
        for name in Self.needed where commands[name] == nil {
            throw CaseFileError(
                "there is no command for `\(name)`: set it in the file of --config, or as --\(name)-command")
        }
        self.commands = commands
        guard let policy = members["exponentPolicy"] else {
            warnsOfExponents = false
            return
        }
        switch try policy.text() {
        case "refuse": warnsOfExponents = false
        case "warn": warnsOfExponents = true
        default: throw policy.error("exponentPolicy must be refuse or warn")
        }
    }

    func has(_ command: String) -> Bool { commands[command] != nil }

    /// Runs a command, which must succeed.
    ///
    /// - Throws: ``CaseEnd/notShown(_:)`` if the command is missing.
    @discardableResult
    func output(
        _ name: String, _ input: JSONObject = [:], _ variables: [String: String] = [:], wire: Wire, trace: Trace
    ) async throws -> CommandOutput {
        guard let command = commands[name] else { throw CaseEnd.notShown("there is no command for `\(name)`") }
        return try await command.output(name, of: input, variables: variables, wire: wire, trace: trace)
    }

    /// Runs `approve` or `deny` for a request; returns false if the command reports that it did not decide.
    func decides(_ name: String, _ request: CaseRequest, wire: Wire, trace: Trace) async throws -> Bool {
        guard let command = commands[name] else { throw CaseEnd.notShown("there is no command for `\(name)`") }
        let input: JSONObject = ["acsTransId": .string(request.acsTransId), "jti": .string(request.jti)]
        let variables = ["ACS_TRANS_ID": request.acsTransId, "JTI": request.jti]
        return try await command.output(
            name, of: input, variables: variables, wire: wire, trace: trace, mayFail: true
        ).isDone
    }

    /// Makes the approver fetch requests now, if it has that command.
    ///
    /// A failure is ignored, because an earlier issuer of the kit may be gone.
    func fetch(wire: Wire, trace: Trace) async throws {
        guard let command = commands["fetch"] else { return }
        _ = try await command.output("fetch", of: [:], variables: [:], wire: wire, trace: trace, mayFail: true)
    }

    /// Returns the acsTransIds of the presented requests, in lower case.
    ///
    /// The command prints a JSON list, or one acsTransId a line.
    func pending(wire: Wire, trace: Trace) async throws -> Set<String> {
        let text = try await output("pending", wire: wire, trace: trace).text
        guard text.hasPrefix("[") else {
            return Set(text.split(whereSeparator: \.isWhitespace).map { $0.lowercased() })
        }
        let limits = JSONLimits(maxBytes: 1_048_576)
        guard case .array(let listed) = try? JSONReader.value(Array(text.utf8), limits: limits) else {
            throw CaseEnd.broken("the command for `pending` printed neither a JSON list nor lines")
        }
        return Set(
            listed.compactMap { each -> String? in
                switch each {
                case .string(let text): text.lowercased()
                case .object(let object): (try? object.string("acsTransId"))?.lowercased()
                default: nil
                }
            })
    }
}

/// A listed request of a case, by the identifiers for commands.
struct CaseRequest: Sendable {
    let jti: String
    let acsTransId: String
}
