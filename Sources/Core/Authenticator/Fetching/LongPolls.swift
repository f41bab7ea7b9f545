import FairSharing
import IssuerProtocol

/// The long polls that may be held at a time, shared in turns among issuers and then among their enrollments.
///
/// A group of enrollments that has no place polls with `wait=0` every ``pause`` seconds until its turn comes. After its
/// poll it hands the place on if another waits.
struct LongPolls: Sendable {
    /// The seconds from one poll with `wait=0` to the next.
    static let pause: Double = 20

    private let queue: FairQueue<IssuerURL>
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
        queue = FairQueue(.init(capacity: limit))
    }

    /// The place of a loop in the queue, and then among those that are held.
    struct Seat: Sendable {
        private let polls: LongPolls
        private let issuer: IssuerURL
        private var ticket: FairQueue<IssuerURL>.Ticket?

        fileprivate init(_ polls: LongPolls, _ issuer: IssuerURL) {
            self.polls = polls
            self.issuer = issuer
        }

        /// Whether the next poll may be held; if not, the loop waits in the queue from now on.
        mutating func mayHold() -> Bool {
            // Its bounds refuse nobody.
            if ticket == nil { ticket = try? polls.queue.enter(issuer) {} }
            return ticket?.isTurn ?? false
        }

        /// Lets another have the place, if one waits for it.
        mutating func handOn() {
            if ticket?.isTurn == true, polls.queue.usage.tickets > polls.limit { leave() }
        }

        /// Lets another have the place, but keeps its own in the queue.
        mutating func leaveIfHeld() {
            if ticket?.isTurn == true { leave() }
        }

        private mutating func leave() {
            ticket?.leave()
            ticket = nil
        }
    }

    func seat(for issuer: IssuerURL) -> Seat { Seat(self, issuer) }
}
