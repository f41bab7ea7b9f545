/// What can be changed.
package protocol StoreWriter: StoreReader {
    /// Makes its data key as well, if the store has data keys.
    func insert(_ enrollment: Enrollment) throws
    /// Changes the row of an enrollment if it is as the transition expects; else nothing is written.
    ///
    /// - Returns: the enrollment as it is now; nil if it is not as expected, or not there.
    @discardableResult
    func change(_ id: EnrollmentID, _ transition: EnrollmentTransition) throws -> Enrollment?
    /// Lets no enrollment of the next `limit` rows sign before its issuer has said which signCount it accepted.
    ///
    /// - Parameter place: the last row of the call before; nil for the first.
    /// - Returns: the place of the last row; nil if there was none.
    func doubtSignCounts(after place: Int64?, limit: Int) throws -> Int64?
    /// Sets the tries of a key's PIN if they are as expected.
    ///
    /// False, and nothing is changed, if they are not.
    @discardableResult
    func setPINTries(of key: KeyIdentity, from old: PINTries, to new: PINTries) throws -> Bool
    /// Seals what is counted of the next `limit` keys anew; what is not as the agent wrote it stays so.
    ///
    /// - Parameter last: what the call before gave; nil for the first.
    /// - Returns: the last of these keys; nil if there was none.
    func resealPINTries(after last: KeyIdentity?, limit: Int) throws -> KeyIdentity?

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
    /// Keeps the proven time, unless a later one is kept.
    func raise(_ provenTime: ProvenMoment) throws

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
    func update(sealedRowKey sealed: [UInt8]) throws
    /// Makes the key under which rows stand in sums, unless there is one.
    func makeRowKey() throws
    /// Has this host's head vouch for the rows as a survey has found them, also for those of hosts whose heads vouch for
    /// none.
    func accept(_ survey: RowSurvey) throws
    /// Notes that all opens under one of the two secrets: from then on a change that has begun is not given up.
    ///
    /// False if no change is under way among the hosts that share the store; true if it has one host.
    func noteSecretSurvey() throws -> Bool
    /// Finds the host that is to change the rows now, and shuts out hosts that seal under the previous secret and do not run.
    func turnOfSecretChange() throws -> SecretChangeTurn
    /// Brings the audit keys of the other hosts' chains under the present secret, and lets hosts start that have it alone.
    ///
    /// A scrub is due from then on, if the store is a file.
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
    /// Removes at most `limit` requests that came before `time` and were never shown; their messages' digests stay.
    ///
    /// They came too late, were refused, or were cancelled before they came. One that waits for an answer stays.
    func removeWhatWasNeverShown(before time: Int64, limit: Int) throws -> Int
}

/// The host whose turn a change of the secret is, among those that share the store.
package enum SecretChangeTurn: Sendable, Equatable {
    case ours
    /// Another host's, which runs.
    case another
    /// Nobody's: these hosts run, and seal under the previous secret until they start again.
    case waits(for: [String])
    /// It is done.
    case over
}
