import GRDB
import IssuerProtocol
import Keys
import StrictJSON

/// A push of a request or of its cancellation, and its state.
struct PushRecord: StoredRecord {
    /// The kind of message that is pushed.
    enum Message: String, Codable { case request, cancellation }

    enum State: String, Codable {
        case waiting, sending, delivered, failed, expired
        /// The request was decided or cancelled before it could be pushed.
        case withdrawn
    }

    static let databaseTableName = "push"

    /// The row's ID, or `nil` before it is inserted.
    var id: Int64?
    /// The jti of the request.
    let jti: String
    let authenticatorId: String
    let message: Message
    /// The message, or `nil` for a hint to fetch.
    let jws: String?
    let exp: Int64
    var dueAt: Int64
    var state: State
    var tries: Int64 = 0
    /// The time of the last attempt.
    var at: Int64?
    var status: Int?
    var problem: String?

    /// The plaintext: the message, or a hint to fetch.
    var plain: [UInt8] { Array((jws ?? "fetch").utf8) }

    /// Returns the message to push, or `nil` if the push can only be a hint.
    ///
    /// That is so if the mode says so, or if the message is longer than RFC 8291 §4 allows.
    static func body(of jws: String, by mode: PushMode) -> String? {
        mode == .hint || jws.utf8.count > PushRecipient.maxPlain ? nil : jws
    }

    var json: JSONValue {
        var json: JSONObject = [
            "message": .string(message.rawValue), "form": jws == nil ? "hint" : "jws",
            "state": .string(state.rawValue), "tries": .integer(tries),
        ]
        json["at"] = at.map(JSONValue.time)
        json["status"] = status.map { .integer(Int64($0)) }
        json["problem"] = problem.map(JSONValue.string)
        return .object(json)
    }
}

extension PushRecord {
    static func all(of jti: String, _ db: Database) throws -> [PushRecord] {
        try rows(db, "WHERE jti = ? ORDER BY id LIMIT 2000", [jti])
    }
}

/// The ways in which a request and its cancellation reach the authenticator.
enum PushMode: String, Codable, CaseIterable {
    /// Listed, and pushed if there is a subscription.
    case both
    /// Listed as with `both`, but pushed only as a hint that there is something to fetch.
    case hint
    /// Pushed, and never listed.
    case pushOnly = "only"
    /// Listed, and never pushed.
    case listOnly = "none"

    var isListed: Bool { self != .pushOnly }
    var isPushed: Bool { self != .listOnly }
}
