import FairSharing
import Threads

/// Lets one piece of long work go on at a time, on a thread behind all others; users take turns, and few wait.
///
/// Long is what reads the whole journal. Nothing that decides waits for it, and neither does the agent's word on how it
/// is.
struct LongResponseQueue: Sendable {
    /// The most calls of one user that wait or are under way.
    static let maxOfUser = 4
    /// The most calls that wait or are under way; one more is taken from root and from the agent's own user only.
    static let limit = 16
    private static let refusal = TooManyCallsError(
        "\(maxOfUser) such calls of this user, or \(limit) of all, wait or are under way", seconds: 5)

    private let queue = FairQueue<UInt32>(.init(capacity: 1, tickets: limit, ticketsOfKey: maxOfUser))

    /// How many calls wait or are under way.
    var count: Int { queue.usage.tickets }

    /// Does `body` when its turn comes; a caller that is cancelled meanwhile waits no longer.
    ///
    /// - Parameter isFavoured: whether the caller is root or the agent's own user.
    /// - Throws: ``TooManyCallsError`` at once if too many wait, and what `body` throws.
    func run<Value: Sendable>(
        for uid: UInt32, isFavoured: Bool, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        do {
            return try await queue.run(uid, isFavoured: isFavoured) {
                try Task.checkCancellation()
                return try await OwnThread.runAtLowPriority(body)
            }
        } catch is FairQueue<UInt32>.FullError {
            throw Self.refusal
        }
    }
}
