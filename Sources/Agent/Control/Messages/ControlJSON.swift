internal import FoundationEssentials
package import StrictJSON

/// The JSON of the control socket: compact, members in a stable order, members without a value left out.
package enum ControlJSON {
    /// The most bytes that the agent reads of a request body.
    package static let maxCommandBytes = 65_536
    /// The most bytes that a client reads of an answer.
    package static let maxAnswerBytes = 8 * 1024 * 1024

    /// The bytes of a message.
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

    /// Reads a request body strictly; an empty one is an empty object.
    ///
    /// A name that is given twice or is not known, and a value of another type or out of its bounds, are errors. So is
    /// `null`: an expectation that a script has no value for does not hold.
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

    /// Reads an answer of the agent's; unknown members of a later version are ignored.
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
    /// Every name that the body may hold.
    static var memberNames: [String] { get }

    /// Reads the members; names have been checked before.
    init(json: JSONObject) throws(JSONMemberError)
}
