internal import FairSharing
internal import IssuerProtocol

/// The room for issuers' answers that are being read, or were read and are not yet done with.
///
/// The first 16 KiB of a body are free. Before more is taken in, the answer takes all the room that it may need, once:
/// its `Content-Length`, or the bound of its call. So whoever holds room never waits for more, and ends in time by
/// ``AnswerReader/Pace``; whoever waits gets its turn then.
struct AnswerRoom: Sendable {
    /// Budgets in bytes, of all issuers and of one.
    struct Bounds: Sendable {
        var polls: Int
        var pollsOfIssuer: Int
        var calls: Int
        var callsOfIssuer: Int

        /// Three quarters for lists and one for other answers; an issuer has an eighth of either.
        init(bytes: Int) {
            polls = bytes / 4 * 3
            calls = bytes / 4
            pollsOfIssuer = polls / 8
            callsOfIssuer = calls / 8
        }

        static let standard = Bounds(bytes: AnswerBounds.standard.bytesInAll)
    }

    typealias Queue = FairQueue<IssuerURL>
    typealias Ticket = Queue.Ticket

    /// The bytes of a body that need no room.
    static let free = 16_384

    private let polls: Queue
    /// Apart from polls: while a list is taken in, its issuer's keys may have to be fetched.
    private let calls: Queue

    init(_ bounds: Bounds) {
        polls = Queue(.init(capacity: bounds.polls, capacityOfKey: bounds.pollsOfIssuer))
        calls = Queue(.init(capacity: bounds.calls, capacityOfKey: bounds.callsOfIssuer))
    }

    func queue(of pool: IssuerCall.ConnectionPool) -> Queue {
        switch pool {
        case .calls: calls
        case .polls: polls
        }
    }
}
