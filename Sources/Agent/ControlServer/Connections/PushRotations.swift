import FairSharing
import Records
import Synchronization

/// Limits rotations of an enrollment's push subscription, by any user: one at a time and one an hour.
///
/// A rotation writes three entries in the journal and calls the issuer, so its cost grows with the enrollments.
final class PushRotations: Sendable {
    /// The time between two rotations of one enrollment, except by a favoured user.
    private static let interval: Duration = .seconds(3_600)
    /// Enrollments that are remembered for that time; all others share one rotation an hour.
    private static let maxKeys = 100_000
    /// The seconds for `Retry-After` while a rotation is in progress.
    private static let pause = 30

    private struct State {
        var isOfAll = false
        var underWay: Set<EnrollmentID> = []
        var rates = RateLimit<EnrollmentID>(burst: 1, every: interval, maxKeys: maxKeys)

        /// Returns the candidates that may be rotated now, and marks them as in progress.
        mutating func begin(
            _ candidates: [EnrollmentID], isFavoured: Bool, now: Duration
        ) throws(TooManyCallsError) -> Set<EnrollmentID> {
            var (begun, wait): (Set<EnrollmentID>, Int?) = ([], nil)
            for id in candidates {
                let seconds = underWay.contains(id) ? pause : isFavoured ? nil : rates.spend(id, now: now)
                if let seconds { wait = min(wait ?? seconds, seconds) } else { begun.insert(id) }
            }
            if begun.isEmpty, let wait {
                throw TooManyCallsError(
                    "a rotation of the same is under way, or was less than an hour ago",
                    seconds: wait)
            }
            underWay.formUnion(begun)
            return begun
        }
    }

    private let now: @Sendable () -> ContinuousClock.Instant
    private let start: ContinuousClock.Instant
    private let state = Mutex(State())

    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.now = now
        start = now()
    }

    /// Runs a rotation of one enrollment, or of all.
    ///
    /// Only one rotation of all runs at a time.
    ///
    /// - Parameters:
    ///   - isFavoured: allows a rotation within an hour of the last one, for root and the agent's own user.
    ///   - body: calls `begin` with the candidates to get those it may rotate, and `commit` before it changes anything.
    ///     If it does not call `commit`, the rotation does not count.
    /// - Throws: ``TooManyCallsError``, also from `begin` if it may rotate none, and what `body` throws.
    func rotate<Value>(
        ofAll: Bool, isFavoured: Bool,
        _ body: (
            _ begin: ([EnrollmentID]) throws -> Set<EnrollmentID>, _ commit: () -> Void
        ) async throws -> Value
    ) async throws -> Value {
        if ofAll { try beginAll() }
        var (begun, isCommitted): (Set<EnrollmentID>, Bool) = ([], false)
        defer { finish(begun, ofAll: ofAll, givingBack: !isCommitted && !isFavoured) }
        return try await body(
            { candidates in
                let now = start.duration(to: now())
                begun = try state.withLock { state throws(TooManyCallsError) in
                    try state.begin(candidates, isFavoured: isFavoured, now: now)
                }
                return begun
            }, { isCommitted = true })
    }

    private func beginAll() throws(TooManyCallsError) {
        let isUnderWay = state.withLock { state in
            defer { state.isOfAll = true }
            return state.isOfAll
        }
        guard isUnderWay else { return }
        throw TooManyCallsError(
            "a rotation of all enrollments is under way", seconds: Self.pause)
    }

    private func finish(_ begun: Set<EnrollmentID>, ofAll: Bool, givingBack: Bool) {
        state.withLock { state in
            if ofAll { state.isOfAll = false }
            state.underWay.subtract(begun)
            if givingBack { for id in begun { state.rates.giveBack(id) } }
        }
    }
}
