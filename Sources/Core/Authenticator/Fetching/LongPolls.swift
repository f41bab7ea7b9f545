import FairSharing
import IssuerProtocol

/// The bounded number of long polls, shared in turns among issuers and then among their enrollments.
///
/// A group without a place polls with `wait=0` every ``pause`` seconds until its turn comes. After a long poll it hands
/// the place on if another group waits.
struct LongPolls: Sendable {
    /// The seconds between two polls with `wait=0`.
    static let pause: Double = 20

    private let queue: FairQueue<IssuerURL>
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
        queue = FairQueue(.init(capacity: limit))
    }

    /// A loop's place in the queue, and then among the long polls.
    struct Seat: Sendable {
        private let polls: LongPolls
        private let issuer: IssuerURL
        private var ticket: FairQueue<IssuerURL>.Ticket?

        fileprivate init(_ polls: LongPolls, _ issuer: IssuerURL) {
            self.polls = polls
            self.issuer = issuer
        }

        /// Returns whether the next poll may be a long poll.
        ///
        /// If not, the loop waits in the queue from now on.
        mutating func mayHold() -> Bool {
            // This queue has no bound on tickets, so `enter` does not throw.
            if ticket == nil { ticket = try? polls.queue.enter(issuer) {} }
            return ticket?.isTurn ?? false
        }

        /// Gives up the place if another loop waits for one.
        mutating func handOn() {
            if ticket?.isTurn == true, polls.queue.usage.tickets > polls.limit { leave() }
        }

        /// Gives up the place of a long poll.
        ///
        /// A place in the queue is kept.
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
