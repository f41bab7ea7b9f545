import Synchronization

/// Reason why a message of an issuer is neither presented nor answered.
package enum MessageDrop: String, Sendable, CaseIterable {
    case reusedID = "reused_id"
    case overQuota = "over_quota"
    /// The issuer or enrollment has reached its bound of stored bytes.
    case noRoom = "no_room"
    case future
    case notAuthentic = "not_authentic"
    case unanswerable
    /// It could not be verified yet, and could not be deferred or was deferred for too long.
    case notHeld = "not_held"
    /// A batch fetch's answer has a result for an authenticator that the call did not name.
    case notAsked = "not_asked"
}

/// The number of messages that were dropped since the agent started, by reason.
final class MessageDrops: Sendable {
    private let counts = Mutex<[MessageDrop: Int]>([:])

    func count(_ drop: MessageDrop) { counts.withLock { $0[drop, default: 0] += 1 } }

    var all: [MessageDrop: Int] { counts.withLock(\.self) }
}
