import FairSharing
import Threads

/// A queue that runs one long call at a time, on a thread of low priority.
///
/// Users take turns, and few may wait.
///
/// A call is long if it reads the whole journal. Neither decisions nor the agent's health answer wait for it.
struct LongResponseQueue: Sendable {
    /// The most calls of one user that wait or run.
    static let maxOfUser = 4
    /// The most calls that wait or run.
    ///
    /// Beyond it, only calls of root and the agent's own user are accepted.
    static let limit = 16
    private static let refusal = TooManyCallsError(
        "\(maxOfUser) such calls of this user, or \(limit) of all, wait or are under way", seconds: 5)

    private let queue = FairQueue<UInt32>(.init(capacity: 1, tickets: limit, ticketsOfKey: maxOfUser))

    /// The number of calls that wait or run.
    var count: Int { queue.usage.tickets }

    /// Runs `body` when its turn comes.
    ///
    /// A caller that is cancelled meanwhile leaves the queue.
    ///
    /// - Parameter isFavoured: whether the caller is root or the agent's own user.
    /// - Throws: ``TooManyCallsError`` at once if too many wait, and what `body` throws.
    func withTurn<Value: Sendable>(
        for uid: UInt32, isFavoured: Bool, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        do {
            return try await queue.inTurn(uid, isFavoured: isFavoured) {
                try Task.checkCancellation()
                return try await OwnThread.runAtLowPriority(body)
            }
        } catch is FairQueue<UInt32>.FullError {
            throw Self.refusal
        }
    }
}
