import GRDB
import IssuerProtocol

/// The queue of pushes, in the database: unsent pushes are sent after a restart.
struct PushQueue: Sendable {
    /// The limit of waiting pushes; the timeline reports each push that did not fit.
    static let maxWaiting = 20_000
    /// The number of newest pushes whose outcome is kept; older ones are deleted once they have ended.
    static let maxKept: Int64 = 10_000
    /// The limit of pushes being sent at a time.
    ///
    /// Each authenticator has at most one of them, so a slow receiver delays only its own pushes.
    static let maxAtOnce = 16

    let backend: IssuerBackend

    /// A push that has left the queue and is being sent.
    struct Taken: Sendable {
        let push: PushRecord
        let subscription: PushSubscription?
    }

    /// Queues a message about a request, `times` times; without `jws` it is a hint.
    static func add(
        _ message: PushRecord.Message, jws: String?, about request: RequestRecord, times: Int, now: Int64,
        in db: Database
    ) throws {
        let waiting = try Int.fetchOne(db, sql: "SELECT count(*) FROM push WHERE state IN ('waiting', 'sending')")
        let room = maxWaiting - (waiting ?? 0)
        for number in 0..<times {
            let isFull = number >= room
            try PushRecord(
                jti: request.jti, authenticatorId: request.authenticatorId, message: message, jws: jws,
                exp: request.exp, dueAt: now, state: isFull ? .failed : .waiting,
                problem: isFull ? "queueFull" : nil
            ).insert(db)
        }
        try db.execute(
            sql: "DELETE FROM push WHERE id <= ? AND state NOT IN ('waiting', 'sending')",
            arguments: [db.lastInsertedRowID - maxKept])
    }

    /// Withdraws the waiting pushes of a closed request.
    static func withdraw(_ jti: String, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE push SET state = 'withdrawn' WHERE jti = ? AND message = 'request' AND state = 'waiting'",
            arguments: [jti])
    }

    /// Returns interrupted pushes to the queue after a restart; they may have arrived.
    func resume() async throws {
        try await backend.store.queue.write { db in
            try db.execute(sql: "UPDATE push SET state = 'waiting' WHERE state = 'sending'")
        }
    }

    /// Takes the next push that is due, or returns `nil` if none is due or enough are being sent.
    func next() async throws -> Taken? {
        let now = backend.now
        return try await backend.store.queue.write { db in
            let push = try PushRecord.fetchOne(
                db,
                sql: """
                    UPDATE push SET state = 'sending', tries = tries + 1, at = ?1 WHERE id = (
                        SELECT id FROM push AS next WHERE state = 'waiting' AND dueAt <= ?1
                            AND (SELECT count(*) FROM push WHERE state = 'sending') < ?2
                            AND NOT EXISTS (SELECT 1 FROM push WHERE state = 'sending'
                                AND authenticatorId = next.authenticatorId)
                        ORDER BY dueAt, id LIMIT 1)
                    RETURNING *
                    """,
                arguments: [now, Self.maxAtOnce])
            return try push.map { push in
                Taken(
                    push: push,
                    subscription: try AuthenticatorRecord.referred(db, id: push.authenticatorId).subscription)
            }
        }
    }

    /// Returns the seconds until the next push is due, as far as is known now; an hour at most.
    func secondsToNext() async throws -> Int64 {
        let now = backend.now
        let next = try await backend.store.read { db in
            try Int64.fetchOne(
                db, sql: "SELECT min(dueAt) FROM push WHERE state = 'waiting' AND dueAt > ?", arguments: [now])
        }
        return min((next ?? .max) - now, 3_600)
    }

    /// Records the outcome of a push, and the time of its next attempt.
    func record(_ outcome: PushOutcome, of taken: Taken) async throws {
        let now = backend.now
        try await backend.store.queue.write { db in
            let (state, dueAt) = Self.next(after: outcome, of: taken.push, now: now)
            var push = taken.push
            (push.state, push.dueAt) = (state, dueAt)
            (push.status, push.problem) = (outcome.status, outcome.obstacle?.rawValue)
            try push.update(db)
            if case .gone = outcome { try Self.unsubscribe(taken, now: now, db) }
        }
    }

    private static func next(
        after outcome: PushOutcome, of push: PushRecord, now: Int64
    ) -> (state: PushRecord.State, dueAt: Int64) {
        switch outcome {
        case .delivered: return (.delivered, now)
        case .notSent(.expired): return (.expired, now)
        case .gone, .refused, .notSent: return (.failed, now)
        case .later(_, let retryAfter):
            let seconds = PushPatience.seconds(afterTry: push.tries, retryAfter: retryAfter)
            guard let seconds, now + seconds < push.exp else { return (.failed, now) }
            return (.waiting, now + seconds)
        }
    }

    /// Ends a subscription that the receiver no longer knows, unless another has replaced it meanwhile.
    private static func unsubscribe(_ taken: Taken, now: Int64, _ db: Database) throws {
        let current = try AuthenticatorRecord.referred(db, id: taken.push.authenticatorId).subscription
        guard current == taken.subscription else { return }
        try PushSubscriptionController.store(nil, of: taken.push.authenticatorId, now: now, db)
    }
}
