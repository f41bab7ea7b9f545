import StrictJSON
import TextAndTime

/// An error in a message of the issuer protocol.
package struct ProtocolError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The fault and the allowed form, safe for a log line.
    package let what: String
    /// The message, and the member in it.
    package let `where`: String

    package init(what: String, where location: String) {
        self.what = what
        self.where = location
    }

    package var description: String { "\(`where`): \(what)" }
}

extension ProtocolError {
    /// The size limit of every body except a list of requests: 1 MiB.
    static let bodyLimits = JSONLimits(maxBytes: 1_048_576)

    /// Runs `body`, and adds the name of `message` to the errors that it throws.
    static func reading<Value>(
        _ message: String, _ body: () throws -> Value
    ) throws(ProtocolError) -> Value {
        do {
            return try body()
        } catch let error as ProtocolError {
            throw error
        } catch let error as JSONMemberError {
            throw ProtocolError(what: error.problem, where: message + EscapedText.of(error.path))
        } catch {
            throw ProtocolError(what: "\(error)", where: message)
        }
    }

    /// Like `reading(_:_:)`, for a body that is one JSON object.
    static func readingObject<Value>(
        _ message: String, in bytes: [UInt8], limits: JSONLimits = bodyLimits, _ body: (JSONObject) throws -> Value
    ) throws(ProtocolError) -> Value {
        try reading(message) { try body(JSONReader.object(bytes, limits: limits)) }
    }
}
