package import IssuerProtocol

/// Where everything that must outlive the process is kept.
///
/// A write is one database transaction: all of it is durable when `write` returns, or nothing of it happened. Bodies
/// are synchronous, so nothing can wait for the network or a key inside a database transaction.
package protocol Book: Sendable {
    func read<T: Sendable>(_ body: @escaping @Sendable (any BookReader) throws -> T) async throws -> T
    func write<T: Sendable>(_ body: @escaping @Sendable (any BookWriter) throws -> T) async throws -> T
}

/// What can be looked up.
///
/// Every list has a limit; every look-up goes by an index.
package protocol BookReader {
    func enrollment(_ id: EnrollmentID) throws -> Enrollment?
    /// All that are not over, oldest first; with `ended`, also those.
    func enrollments(includingEnded ended: Bool) throws -> [Enrollment]

    func request(_ id: RequestID) throws -> RequestRecord?
    /// Oldest first; of more than `limit`, the newest `limit`, and of pending ones the oldest: those are next.
    func requests(pendingOnly: Bool, enrollment: EnrollmentID?, limit: Int) throws -> [RequestRecord]
    /// The pending request that came first.
    func oldestPending(enrollment: EnrollmentID?) throws -> RequestRecord?
    /// Requests whose id or jti begins with `prefix`, or whose acsTransId begins with it in lower case: first those
    /// that it names wholly, of these and of the rest first the pending ones, then the newest.
    func requests(prefix: String, enrollment: EnrollmentID?, limit: Int) throws -> [RequestRecord]
    /// The request with the greatest `iat` under this acsTransId that was presented, or would have been but for its
    /// `exp` or a cancellation. Refused ones do not count.
    func newestPresented(enrollment: EnrollmentID, acsTransId: String) throws -> RequestRecord?
    func pendingCount(enrollment: EnrollmentID?) throws -> Int
    /// Requests of an enrollment that came at or after `since`, seconds since 1970, and were refused or too late.
    func unpresentedCount(enrollment: EnrollmentID, since: Int64) throws -> Int
    /// Pending requests whose `exp` is at or before `now`.
    func duePending(now: Int64, limit: Int) throws -> [RequestRecord]
    /// The earliest `exp` of a pending request.
    func nextDeadline() throws -> Int64?

    func message(enrollment: EnrollmentID, jti: TokenID) throws -> SeenMessage?
    /// How many cancellations are remembered for an enrollment.
    func cancellationCount(enrollment: EnrollmentID) throws -> Int
    func cancellation(enrollment: EnrollmentID, of jti: TokenID) throws -> RememberedCancellation?

    /// The entry of a lane that goes next.
    func outboxHead(enrollment: EnrollmentID, lane: OutboxLane) throws -> OutboxEntry?
    func outboxCount(enrollment: EnrollmentID?) throws -> Int
    /// Enrollments with something in their outbox.
    func outboxEnrollments() throws -> [EnrollmentID]
    func outbox(enrollment: EnrollmentID) throws -> [OutboxEntry]
}

/// What can be changed.
package protocol BookWriter: BookReader {
    func insert(_ enrollment: Enrollment) throws
    /// Writes `state`, `signCount`, `signCountRaise` and `endReason`; all else of an enrollment never changes.
    func update(_ enrollment: Enrollment) throws

    func insert(_ request: RequestRecord) throws
    /// Writes what may change: the message that is answered, the life, the conflict mark.
    func update(_ request: RequestRecord) throws

    func insert(_ message: SeenMessage) throws
    func insert(_ cancellation: RememberedCancellation) throws
    func removeCancellations(until now: Int64) throws

    func insert(_ entry: OutboxEntry) throws
    func removeOutbox(sequence: Int64) throws
}
