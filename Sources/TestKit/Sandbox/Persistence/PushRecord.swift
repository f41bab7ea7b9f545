import GRDB
import IssuerProtocol
import Keys
import StrictJSON

/// One push of a request, or of what takes it back, and what became of it.
struct PushRecord: StoredRecord {
    /// What is pushed.
    enum Message: String, Codable { case request, cancellation }

    enum State: String, Codable {
        case waiting, sending, delivered, failed, expired
        /// The request was decided or taken back before it could be pushed.
        case withdrawn
    }

    static let databaseTableName = "push"

    /// Nil before it is inserted.
    var id: Int64?
    /// The request's.
    let jti: String
    let authenticatorId: String
    let message: Message
    /// Nil: a hint to fetch.
    let jws: String?
    let exp: Int64
    var dueAt: Int64
    var state: State
    var tries: Int64 = 0
    /// Of the last try.
    var at: Int64?
    var status: Int?
    var problem: String?

    /// What is encrypted: the message, or a hint to fetch.
    var plain: [UInt8] { Array((jws ?? "fetch").utf8) }

    /// The message to push, nil if only a hint may be sent, or the message is longer than RFC 8291 §4 allows.
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

/// How a request and its cancellation reach the authenticator.
enum PushMode: String, Codable, CaseIterable {
    /// Listed, and pushed if there is a subscription.
    case both
    /// As `both`, but what is pushed says no more than that there is something to fetch.
    case hint
    /// Pushed, and never listed.
    case pushOnly = "only"
    /// Listed, and never pushed.
    case listOnly = "none"

    var isListed: Bool { self != .pushOnly }
    var isPushed: Bool { self != .listOnly }
}
