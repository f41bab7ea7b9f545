internal import FoundationEssentials
package import StrictJSON

/// The JSON of the control socket: compact, members in a stable order, members without a value left out.
package enum ControlJSON {
    /// The maximum size of a request body that the agent reads, in bytes.
    package static let maxCommandBytes = 65_536
    /// The maximum size of an answer that a client reads, in bytes.
    package static let maxAnswerBytes = 8 * 1024 * 1024

    /// Encodes a message.
    package static func encode(_ message: some Encodable) throws(ControlError) -> [UInt8] {
        do {
            return Array(try encoder.encode(message))
        } catch {
            throw ControlError(.failed, "The message could not be written as JSON.")
        }
    }

    private static let encoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()

    /// Reads a request body strictly.
    ///
    /// An empty body is read as an empty object.
    ///
    /// A repeated name, an unknown name, and a value of another type or out of its bounds are errors. So is `null`: an
    /// expectation for which a script has no value must not hold.
    package static func decode<Command: ControlCommand>(
        _ bytes: [UInt8], as type: Command.Type
    ) throws(ControlError) -> Command {
        do {
            let object = try JSONReader.object(bytes.isEmpty ? Array("{}".utf8) : bytes, limits: limits)
            try checkNames(in: object, known: type.memberNames)
            return try type.init(json: object)
        } catch let error as JSONError {
            throw ControlError(.invalidArgument, "The body is not in order: \(error).")
        } catch let error as JSONMemberError {
            throw ControlError(.invalidArgument, "The body is not in order: \(error).")
        } catch {
            throw ControlError(.invalidArgument, "The body is not in order.")
        }
    }

    /// Reads an answer of the agent.
    ///
    /// Unknown members of a later version are ignored.
    static func answer<Answer: Decodable>(_ bytes: [UInt8], as type: Answer.Type) -> Answer? {
        try? JSONDecoder().decode(type, from: Data(bytes))
    }

    private static let limits = JSONLimits(maxBytes: maxCommandBytes, maxDepth: 4, maxValues: 100)

    private static func checkNames(in object: JSONObject, known: [String]) throws(JSONMemberError) {
        for member in object.members {
            guard known.contains(where: { $0.utf8.elementsEqual(member.name.utf8) }) else {
                let allowed = known.joined(separator: ", ")
                throw JSONMemberError(path: "/\(member.name)", problem: "is not known; allowed are \(allowed)")
            }
            guard member.value != .null else {
                throw JSONMemberError(path: "/\(member.name)", problem: "is null; leave it out, or give it a value")
            }
        }
    }
}

/// A request body of the control API.
package protocol ControlCommand: Encodable, Sendable {
    /// All member names that the body may have.
    static var memberNames: [String] { get }

    /// Reads the members, whose names have been checked before.
    init(json: JSONObject) throws(JSONMemberError)
}
