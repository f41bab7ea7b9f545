import Synchronization

/// Why a message of an issuer's is neither presented nor answered.
package enum MessageDrop: String, Sendable, CaseIterable {
    case reusedID = "reused_id"
    case overQuota = "over_quota"
    /// As many bytes are stored for its issuer or enrollment as may be.
    case noRoom = "no_room"
    case future
    case notAuthentic = "not_authentic"
    case unanswerable
    /// It could not be judged, and was not held any longer.
    case notHeld = "not_held"
    /// A batch fetch's answer about an authenticator that it did not ask for.
    case notAsked = "not_asked"
}

/// The number of messages that were dropped since the agent started, by reason.
final class MessageDrops: Sendable {
    private let counts = Mutex<[MessageDrop: Int]>([:])

    func note(_ drop: MessageDrop) { counts.withLock { $0[drop, default: 0] += 1 } }

    var all: [MessageDrop: Int] { counts.withLock(\.self) }
}
