package import IssuerProtocol

/// Where everything that must outlive the process is kept.
///
/// A write is in one database transaction: all of it is durable when `write` returns, or nothing of it happened. Once
/// it has been begun it is not cut off by its caller's cancellation. Bodies are synchronous, so nothing can wait for the
/// network or a key inside a database transaction; one may be run again if the first time was undone.
package protocol Store: Sendable {
    func read<T: Sendable>(_ body: @escaping @Sendable (any StoreReader) throws -> T) async throws -> T
    func write<T: Sendable>(_ body: @escaping @Sendable (any StoreWriter) throws -> T) async throws -> T
    /// Writes what has come of something that was begun, also if its caller was cancelled meanwhile.
    func conclude<T: Sendable>(_ body: @escaping @Sendable (any StoreWriter) throws -> T) async throws -> T
    /// Sees that what writes have removed or written over is nowhere in the store's files any more.
    ///
    /// Writes wait meanwhile: it takes as long as writing the whole store anew.
    func scrub() async throws
}

extension Store {
    package func conclude<T: Sendable>(
        _ body: @escaping @Sendable (any StoreWriter) throws -> T
    ) async throws -> T { try await write(body) }
}

/// What can be looked up.
///
/// Every list has a limit; every look-up goes by an index.
package protocol StoreReader {
    func enrollment(_ id: EnrollmentID) throws -> Enrollment?
    /// All that are not over, oldest first; with `ended`, also those.
    func enrollments(includingEnded ended: Bool) throws -> [Enrollment]
    /// Those that are not over and came after one, nil for all, oldest first: at most `limit`.
    ///
    /// Empty after one that is not there.
    func enrollments(after id: EnrollmentID?, limit: Int) throws -> [Enrollment]
    /// Those that are not over and were written when the journal had more entries than this.
    func enrollments(writtenAfter sequence: Int64) throws -> [Enrollment]
    /// The ids of all at one stage, oldest first.
    func enrollmentIDs(at stage: EnrollmentStage) throws -> [EnrollmentID]
    /// The registrations without an answer that began at or before a time, seconds since 1970, oldest first.
    func enrollmentIDs(enrollingStartedBy time: Int64) throws -> [EnrollmentID]
    /// Returns the standing of enrollments, also ended ones, the newest first: at most `limit` before a place, nil
    /// for all.
    func standings(before place: Int64?, limit: Int) throws -> [EnrollmentStanding]
    /// The enrollments whose subscription, of the newest `limit` of all, is not known to be at its issuer.
    func unregisteredSubscriptions(amongNewest limit: Int) throws -> [EnrollmentID]
    /// Those of these ids whose enrollments are not over, oldest first.
    func enrollmentIDs(among ids: Set<EnrollmentID>) throws -> [EnrollmentID]
    /// Those that are not over and whose row was not as it was written when it was read last, oldest first.
    func damagedEnrollments() throws -> [EnrollmentID]
    /// What is weak about those that are not over and not known to be damaged, each with the first `limit` of them, as
    /// their rows say.
    func weakEnrollments(limit: Int) throws -> [WeakEnrollments]
    /// Those of this name, first those that are not over, and of them the oldest.
    func enrollments(named name: String, includingEnded ended: Bool, limit: Int) throws -> [Enrollment]
    /// Those whose id begins so.
    func enrollments(beginning prefix: String, includingEnded ended: Bool, limit: Int) throws -> [Enrollment]
    /// Whether one that is not over has this name.
    func isNameTaken(_ name: String) throws -> Bool
    /// The one of this credential, if it is not over.
    func enrollment(credentialId: [UInt8]) throws -> Enrollment?
    /// Those that are not over and whose key the agent did not make, oldest first.
    func enrollmentsOfExternalKeys() throws -> [Enrollment]
    /// Those that are not over and are suspended, known to be damaged or among `ids`, oldest first; of those that are
    /// suspended at most `limit`, the oldest.
    ///
    /// A damaged row is known once it was read, which is at start and once a day at the latest.
    func troubledEnrollments(among ids: Set<EnrollmentID>, limit: Int) throws -> [EnrollmentID]
    /// How many are not over, by their state.
    func enrollmentTally() throws -> EnrollmentTally
    /// How many are not over.
    func enrollmentCount() throws -> Int
    /// Those that are over and whose personal data is still to be erased.
    func enrollmentsToErase() throws -> [EnrollmentID]
    /// The sealed data keys of the enrollments whose id comes after one, nil for all, by their ids: at most `limit`.
    ///
    /// Also of those that are over; none if the store has no data keys.
    func dataKeys(after id: EnrollmentID?, limit: Int) throws -> [SealedDataKey]
    /// Whether an enrollment's personal data was erased.
    func isErased(_ id: EnrollmentID) throws -> Bool

    /// The wrong PINs in a row of a key that the agent did not make, through whatever enrollment, or none.
    ///
    /// ``PINTries/unknown`` if what is there is not what the agent wrote.
    func pinTries(of key: KeyIdentity) throws -> PINTries
    /// The same of every key that has had wrong ones since its last right one.
    func keyTries() throws -> [KeyIdentity: PINTries]

    /// The enrollment of a request, which never changes; nil if there is no such request.
    func owner(of request: RequestID) throws -> EnrollmentID?
    func request(_ id: RequestID) throws -> RequestRecord?
    /// Oldest first; of more than `limit`, the newest `limit`, and of pending ones the oldest: those are next.
    ///
    /// - Parameter page: between which; without a bound it is of the pending ones those that came first, of all the
    ///   newest. Empty beyond a request that does not exist.
    func requests(
        pendingOnly: Bool, enrollment: EnrollmentID?, page: RequestPage, limit: Int
    ) throws -> [RequestRecord]
    /// The pending request that came first.
    func oldestPending(enrollment: EnrollmentID?) throws -> RequestRecord?
    /// Requests of this id or jti, or of this acsTransId in lower case: first the pending ones, then the newest.
    func requests(named name: String, enrollment: EnrollmentID?, limit: Int) throws -> [NamedRequest]
    /// Requests whose id or jti begins with `prefix`, or whose acsTransId does in lower case.
    ///
    /// First those that it names wholly; of these and of the rest, first the pending ones, then the newest. If very many
    /// begin so, some of them are looked at: as many as it takes to tell that it is no name of one.
    func requests(prefix: String, enrollment: EnrollmentID?, limit: Int) throws -> [NamedRequest]
    /// What is kept of a request for a dispute; empty if there is nothing.
    func evidence(of id: RequestID) throws -> KeptEvidence
    /// The request with the greatest `iat` under this acsTransId that was presented.
    ///
    /// Or would have been except for its `exp` or a cancellation. Refused ones do not count.
    func newestPresented(enrollment: EnrollmentID, acsTransId: String) throws -> RequestRecord?
    func pendingCount(enrollment: EnrollmentID?) throws -> Int
    /// How many requests of an enrollment were refused or too late since `since`, seconds since 1970.
    func unpresentedCount(enrollment: EnrollmentID, since: Int64) throws -> Int
    /// Pending requests whose `exp` is at or before `now`.
    func duePending(now: Int64, limit: Int) throws -> [RequestRecord]
    /// The earliest `exp` of a pending request; it looks at all that are pending.
    func nextDeadline() throws -> Int64?
    /// The earliest `exp` of a pending request of an enrollment.
    func nextDeadline(of enrollment: EnrollmentID) throws -> Int64?
    /// When the request or enrollment that is the newest in the store came; seconds since 1970.
    func newestTime() throws -> Int64?

    func message(enrollment: EnrollmentID, jti: TokenID) throws -> SeenMessage?
    /// The number of messages of an enrollment since `since`, seconds since 1970, or up to five minutes before it.
    ///
    /// They are counted by slots of five minutes of the clock, and the slot of `since` is counted whole. The same message
    /// again does not count.
    func messageCount(enrollment: EnrollmentID, since: Int64) throws -> Int
    /// How many cancellations are remembered for an enrollment.
    func cancellationCount(enrollment: EnrollmentID) throws -> Int
    func cancellation(enrollment: EnrollmentID, of jti: TokenID) throws -> RememberedCancellation?

    /// The entry of a queue that goes next.
    func outboxHead(enrollment: EnrollmentID, queue: OutboxQueue) throws -> OutboxEntry?
    func outboxCount(enrollment: EnrollmentID?) throws -> Int
    /// When the oldest decision was made that waits for an answer; seconds since 1970.
    func oldestQueuedDecision() throws -> Int64?
    /// Enrollments with something in their outbox.
    func outboxEnrollments() throws -> [EnrollmentID]
    /// The enrollments with something in one queue of their outbox, by their ids, after `id`: at most `limit`.
    func outboxEnrollments(in queue: OutboxQueue, after id: EnrollmentID?, limit: Int) throws -> [EnrollmentID]
    func outbox(enrollment: EnrollmentID) throws -> [OutboxEntry]
    /// Whether an entry still waits: the issuer's answer to it is not known, and nobody has given it up.
    func isQueued(_ entry: OutboxEntry) throws -> Bool

    /// How many seconds the clock of tests is ahead of the machine's; 0 if it was never advanced.
    func clockOffset() throws -> Int64

    /// The push subscription whose token has this digest.
    func subscription(tokenDigest: [UInt8]) throws -> KeptSubscription?
    /// Those of an enrollment, oldest first.
    func subscriptions(of id: EnrollmentID) throws -> [KeptSubscription]

    /// Who plays the cardholder of an enrollment, as `Personas` wrote it; nil: nobody.
    func persona(of id: EnrollmentID) throws -> String?
    /// The same of those that come after an enrollment, nil for all, by its id: at most `limit`.
    func personas(after id: EnrollmentID?, limit: Int) throws -> [(enrollment: EnrollmentID, document: String)]
    /// What was to answer a request, as `Personas` wrote it; nil: nobody has looked.
    func script(of id: RequestID) throws -> String?
    /// How many requests a rule was to answer, by its name; no more than `limit` are counted.
    func scriptCount(ofRule name: String, upTo limit: Int) throws -> Int
    /// Behind which request those are that came at or after a time, seconds since 1970; of more than `most`, the newest.
    func firstRequest(since time: Int64, sparing most: Int) throws -> (place: Int64, isCut: Bool)
    /// Counts the requests that came at or after a time, of the `limit` that follow a place.
    ///
    /// - Returns: the place of the last one; nil if there was none.
    func requestTallies(
        after place: Int64, since time: Int64, limit: Int
    ) throws -> (tallies: [RequestTally], place: Int64?)

    /// Whether a term of this host's is not over; then it is not before this database transaction is.
    func isCurrent(_ term: WorkTerm) throws -> Bool
    /// The host whose chain of the journal these are about; nil if the store has one chain.
    var journalHost: String? { get }
    /// Where the chains of the other hosts end, by their names; empty if the store has one chain.
    func headsOfOthers() throws -> [String: Int64]
    /// The other hosts that have a chain of the journal, or anything of one, by name: the first ``JournalHosts/limit``.
    func otherHosts() throws -> [String]
    /// The same store, with the chain of another host in the place of this one's; nil if no host can have that name.
    func reader(of host: String) -> (any StoreReader)?
    /// The entries after one, in their order.
    func journal(after sequence: Int64, limit: Int) throws -> [JournalRow]
    func journalMark(_ name: JournalMark.Name) throws -> JournalMark?
    /// The checkpoint at an entry; nil if there is none.
    func checkpoint(at sequence: Int64) throws -> JournalCheckpoint?
    func newestCheckpoint() throws -> JournalCheckpoint?
    /// The checkpoints that have entries about a request, oldest first.
    ///
    /// As it was noted with each checkpoint; nobody vouches for it.
    func checkpoints(of request: RequestID) throws -> [Int64]
    /// The key that signs the journal's marks, as it was sealed.
    func sealedAuditKey() throws -> [UInt8]?
    /// The same of the other hosts' chains; empty if the store has one chain.
    func sealedAuditKeysOfOthers() throws -> [[UInt8]]
}

/// What can be changed.
package protocol StoreWriter: StoreReader {
    /// Makes its data key as well, if the store has data keys.
    func insert(_ enrollment: Enrollment) throws
    /// Changes the row of an enrollment if it is as the transition expects; else nothing is written.
    ///
    /// - Returns: the enrollment as it is now; nil if it is not as expected, or not there.
    @discardableResult
    func change(_ id: EnrollmentID, _ transition: EnrollmentTransition) throws -> Enrollment?
    /// Sets the tries of a key's PIN if they are as expected.
    ///
    /// False, and nothing is changed, if they are not.
    @discardableResult
    func setPINTries(of key: KeyIdentity, from old: PINTries, to new: PINTries) throws -> Bool

    /// Writes a new request, with what is kept of it for a dispute.
    func insert(_ request: RequestRecord, _ evidence: KeptEvidence) throws
    /// Writes what may change: the message that is answered, the life, why a delivery failed, the conflict mark.
    func update(_ request: RequestRecord) throws
    /// Writes the same, except the message that is answered.
    func updateLife(of request: RequestRecord) throws
    /// Adds to what is kept of a request for a dispute: what has a value takes the place of what was there.
    func keep(_ evidence: KeptEvidence, of id: RequestID) throws

    func insert(_ message: SeenMessage) throws
    /// Notes that other bytes came under the jti of a message.
    func markReused(_ message: SeenMessage) throws
    func insert(_ cancellation: RememberedCancellation) throws
    func removeCancellations(until now: Int64) throws

    /// Notes why an entry could not be delivered for now.
    func note(_ error: String, of entry: OutboxEntry) throws
    /// Takes an entry out of the outbox, and notes on its request, if it has one, how its delivery ended.
    ///
    /// Nothing is changed if the entry no longer waits.
    ///
    /// - Parameter error: why the issuer did not take it, or was not reached; nil if it took it.
    func endDelivery(of entry: OutboxEntry, as end: DeliveryState, error: String?) throws

    func insert(_ subscription: KeptSubscription) throws
    /// Writes `sealedKey` and `isRegistered`; all else of a subscription never changes.
    func update(_ subscription: KeptSubscription) throws
    func removeSubscription(_ tokenDigest: [UInt8]) throws

    func set(clockOffset offset: Int64) throws

    /// Keeps who plays the cardholder of an enrollment; nil: nobody any more.
    func setPersona(_ document: String?, of id: EnrollmentID) throws
    /// Keeps what is to answer a request, and by which rule if it is one; it goes with the request.
    func setScript(_ document: String, rule: String?, of id: RequestID) throws

    /// Runs a part of the database transaction; if it fails, what it has written is undone, and the rest stands.
    ///
    /// It waits for no row that another database transaction holds: that one may wait for a row of this one.
    ///
    /// - Returns: why it failed; nil if it did not; ``RowHeldError``.
    /// - Throws: if it is the store that failed: then the whole database transaction has.
    func undoing(_ part: () throws -> Void) throws -> (any Error)?

    /// Writes, and changes nothing: fails if a change would.
    func touch() throws
    /// Runs an action after the commit, before the next database transaction; not at all if undone.
    func afterCommit(_ action: @escaping @Sendable () -> Void)

    // The journal's rows: the core keeps their chain (see `record`), whatever keeps them.
    func insert(_ row: JournalRow) throws
    /// Notes what an entry says that was inserted, for ``newEntries``.
    func note(_ entry: JournalEntry)
    /// The entries that this database transaction has noted so far and not undone, in their order.
    var newEntries: [JournalEntry] { get }
    func set(_ mark: JournalMark, as name: JournalMark.Name) throws
    func removeJournal(through sequence: Int64) throws
    /// - Parameter requests: whom its entries are about.
    func insert(_ checkpoint: JournalCheckpoint, about requests: Set<RequestID>) throws
    func insert(sealedAuditKey sealed: [UInt8]) throws
    /// The same key, sealed anew.
    func update(sealedAuditKey sealed: [UInt8]) throws
    /// Brings the audit keys of the other hosts' chains under the present secret, and lets hosts start that have it alone.
    ///
    /// - Parameter rewrapped: a key under the present secret; nil if it is already.
    func concludeSecretChange(_ rewrapped: ([UInt8]) throws -> [UInt8]?) throws

    /// Writes the same data key, sealed anew; nothing if the row has another one.
    func update(_ old: SealedDataKey, resealed: [UInt8]) throws

    /// Notes that an enrollment's personal data is to be erased once it is over.
    func wantErasure(of id: EnrollmentID) throws
    /// Erases the personal data of at most `limit` requests that follow the one at `place`, nil for the first.
    ///
    /// Ids, digests, times and states stay.
    ///
    /// - Returns: the place of the last one; nil if there was none.
    func eraseRequests(of id: EnrollmentID, after place: Int64?, limit: Int) throws -> Int64?
    /// Erases an enrollment's own personal data: its name, user handle and roots, and its data key.
    ///
    /// It comes last: requests that are not erased cannot be read after it, if the store has data keys.
    func eraseNames(of id: EnrollmentID) throws
    /// Notes that nothing is left to be erased; false, and nothing is changed, if that was noted already.
    @discardableResult
    func concludeErasure(of id: EnrollmentID) throws -> Bool

    /// Removes at most `limit` rows of what ended before `time`, seconds since 1970.
    ///
    /// Requests that are decided or closed and wait for no answer, messages of no request that is left, and enrollments
    /// that nothing refers to.
    ///
    /// - Returns: how many rows were removed; fewer than `limit` if nothing is left to remove.
    func removeWhatWasOver(before time: Int64, limit: Int) throws -> Int
}

/// Enrollments that some work is for.
package enum EnrollmentStage: Sendable {
    case active
    /// The issuer has not answered yet.
    case enrolling
    /// It is active and has a push subscription.
    case subscribed
}

/// As much of an enrollment as tells whether it is to be fetched for.
package struct EnrollmentStanding: Sendable, Equatable {
    /// Grows with each enrollment that is made.
    package let place: Int64
    package let id: EnrollmentID
    /// Nil unless its issuer has accepted it and it is not over.
    package let isSuspended: Bool?

    package init(place: Int64, id: EnrollmentID, isSuspended: Bool?) {
        (self.place, self.id, self.isSuspended) = (place, id, isSuspended)
    }
}

/// How many enrollments there are.
package struct EnrollmentTally: Sendable, Equatable {
    package var enrolling = 0
    package var active = 0
    package var suspended = 0
    /// Those whose issuer had accepted a signature that was not made here.
    package var signedElsewhere = 0

    package init() {}
}

/// Between which requests a list is, in the order in which they came; neither of them is in it.
package struct RequestPage: Sendable, Equatable {
    package var after: RequestID?
    package var before: RequestID?

    package init(after: RequestID? = nil, before: RequestID? = nil) {
        self.after = after
        self.before = before
    }

    /// Whether a list that is cut short has its last ones: those before a request, and of all without a bound.
    package func isFromTheEnd(pendingOnly: Bool) -> Bool {
        after == nil && (before != nil || !pendingOnly)
    }
}

extension StoreReader {
    package func requests(pendingOnly: Bool, enrollment: EnrollmentID?, limit: Int) throws -> [RequestRecord] {
        try requests(pendingOnly: pendingOnly, enrollment: enrollment, page: RequestPage(), limit: limit)
    }
}

/// Another host's database transaction holds a row that a part of this one needs.
package struct RowHeldError: Error {
    package init() {}
}
