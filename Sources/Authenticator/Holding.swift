import IssuerProtocol
import Synchronization

/// Messages that cannot be judged yet: their `iat` is ahead, or their key is not known yet.
///
/// In memory, and bounded.
final class Holding: Sendable {
    struct Held: Sendable {
        let enrollmentId: EnrollmentID
        let message: String
        /// When it is read again; seconds since 1970.
        let readAgainAt: Int64
        /// When it is dropped unless it could be judged.
        let dropAt: Int64
    }

    /// The seconds for which a message is held at most.
    static let longest: Int64 = 600

    /// The most messages that one enrollment, and all together, may have here.
    private let mostOfEnrollment: Int
    private let most: Int
    private let held = Mutex<[Held]>([])

    init(_ bounds: AgentBounds) {
        mostOfEnrollment = bounds.heldOfEnrollment
        most = bounds.held
    }

    /// False where there is no room for it.
    func hold(_ message: Held) -> Bool {
        held.withLock { held in
            if held.contains(where: { $0.message == message.message && $0.enrollmentId == message.enrollmentId }) {
                return true
            }
            let ofEnrollment = held.count { $0.enrollmentId == message.enrollmentId }
            guard held.count < most, ofEnrollment < mostOfEnrollment else { return false }
            held.append(message)
            return true
        }
    }

    /// Takes out what is to be read again now.
    func takeDue(now: Int64) -> [Held] {
        held.withLock { held in
            let due = held.filter { $0.readAgainAt <= now }
            held.removeAll { $0.readAgainAt <= now }
            return due
        }
    }

    var nextDeadline: Int64? { held.withLock { $0.map(\.readAgainAt).min() } }
}
