import GRDB
import IssuerProtocol
import Keys
import SQLiteRows
import StrictJSON
import TableRows

/// One push of a request, or of what takes it back, and what became of it.
struct PushRecord: Sendable {
    /// What is pushed.
    enum Message: String, Sendable { case request, cancellation }

    enum State: String, Sendable {
        case waiting, sending, delivered, failed, expired
        /// The request was decided or taken back before it could be pushed.
        case withdrawn
    }

    let id: Int64
    let authenticatorId: String
    let message: Message
    /// Nil: a hint to fetch.
    let jws: String?
    let exp: Int64
    let state: State
    let tries: Int64
    /// Of the last try.
    let at: Int64?
    let status: Int?
    let problem: String?

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

/// The columns of a push.
enum PushColumn: Int, TableColumn {
    static let table = TableLayout<Self>("push", naming: .asWritten)

    case id, jti, authenticatorId, message, jws, exp, dueAt, state, tries, at, status, problem
}

extension PushRecord {
    init(_ fields: Fields<PushColumn>) throws {
        message = try fields.value(.message, Message.init(rawValue:))
        state = try fields.value(.state, State.init(rawValue:))
        id = try fields.number(.id)
        authenticatorId = try fields.text(.authenticatorId)
        jws = try fields.optionalText(.jws)
        exp = try fields.number(.exp)
        tries = try fields.number(.tries)
        at = try fields.optionalNumber(.at)
        status = try fields.optionalNumber(.status)
        problem = try fields.optionalText(.problem)
    }

    static func all(of jti: String, _ db: Database) throws -> [PushRecord] {
        try db.rows(of: PushColumn.table, "WHERE jti = ? ORDER BY id LIMIT 2000", [jti], as: PushRecord.init)
    }
}

/// How a request and its cancellation reach the authenticator.
enum PushMode: String, Sendable, CaseIterable {
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
