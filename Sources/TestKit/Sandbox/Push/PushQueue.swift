import GRDB
import IssuerProtocol

/// The pushes that wait, in the database: what was not sent when the sandbox stopped is sent when it starts again.
struct PushQueue: Sendable {
    /// How many may wait; the timeline says which did not fit.
    static let maxWaiting = 20_000
    /// Of so many of the newest it is known what became of them; older ones go once they are over.
    static let maxKept: Int64 = 10_000
    /// How many are under way at a time, of one authenticator one: a receiver that is slow holds up only its own.
    static let maxAtOnce = 16

    let backend: IssuerBackend

    /// A push that is under way from now on.
    struct Taken: Sendable {
        let push: PushRecord
        let subscription: PushSubscription?
    }

    /// Puts a message about a request into the queue, that many times; nil stands for a hint.
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

    /// A request that is over is not pushed any more.
    static func withdraw(_ jti: String, _ db: Database) throws {
        try db.execute(
            sql: "UPDATE push SET state = 'withdrawn' WHERE jti = ? AND message = 'request' AND state = 'waiting'",
            arguments: [jti])
    }

    /// What was under way when the sandbox stopped waits again; it may have arrived.
    func resume() async throws {
        try await backend.store.queue.write { db in
            try db.execute(sql: "UPDATE push SET state = 'waiting' WHERE state = 'sending'")
        }
    }

    /// The next push that is due; nil if none is, or enough are under way.
    func take() async throws -> Taken? {
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

    /// How long there is nothing to do, as far as is known now; an hour at most.
    func secondsToNext() async throws -> Int64 {
        let now = backend.now
        let next = try await backend.store.read { db in
            try Int64.fetchOne(
                db, sql: "SELECT min(dueAt) FROM push WHERE state = 'waiting' AND dueAt > ?", arguments: [now])
        }
        return min((next ?? .max) - now, 3_600)
    }

    /// Writes down what came of a push, and when it is tried again.
    func record(_ outcome: PushOutcome, of taken: Taken) async throws {
        let now = backend.now
        try await backend.store.queue.write { db in
            let (state, dueAt) = Self.next(after: outcome, of: taken.push, now: now)
            var push = taken.push
            (push.state, push.dueAt) = (state, dueAt)
            (push.status, push.problem) = (outcome.status, outcome.obstacle?.rawValue)
            try push.update(db)
            if case .gone = outcome { try Self.end(taken, now: now, db) }
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

    /// Ends the subscription that a receiver disowned, unless another has taken its place meanwhile.
    private static func end(_ taken: Taken, now: Int64, _ db: Database) throws {
        let current = try AuthenticatorRecord.referred(db, id: taken.push.authenticatorId).subscription
        guard current == taken.subscription else { return }
        try PushSubscriptionController.store(nil, of: taken.push.authenticatorId, now: now, db)
    }
}
