internal import FairSharing
internal import IssuerProtocol

/// Budget of bytes for answers that are being read or processed.
///
/// The first 16 KiB of a body are free. Before more is read, the answer reserves all the room that it may need, once:
/// its `Content-Length`, or the limit of its call. So an answer with a reservation never waits for more, and ends in
/// time by ``AnswerReader/Pace``. Then the next answer in the queue gets its turn.
struct AnswerRoom: Sendable {
    /// Budgets in bytes, for all issuers and for one.
    struct Bounds: Sendable {
        var polls: Int
        var pollsOfIssuer: Int
        var calls: Int
        var callsOfIssuer: Int

        /// Three quarters for lists and a quarter for other answers; one issuer has an eighth of each.
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

    /// The bytes of a body that need no reservation.
    static let free = 16_384

    private let polls: Queue
    /// Separate from polls: while a list is processed, the agent may have to fetch its issuer's keys.
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
