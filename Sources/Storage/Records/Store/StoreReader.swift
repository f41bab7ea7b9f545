package import IssuerProtocol

/// What can be looked up.
///
/// Every list has a limit; every look-up goes by an index.
package protocol StoreReader {
    func enrollment(_ id: EnrollmentID) throws -> Enrollment?
    /// Some of those that are not over, or with `ended` of all, oldest first: the first `limit` behind a place, nil for
    /// the first of all.
    ///
    /// - Returns: nil if there are none.
    func enrollmentPage(after place: Int64?, limit: Int, includingEnded ended: Bool) throws -> EnrollmentPage?
    /// The enrollments of these ids that are not over.
    func enrollments(among ids: Set<EnrollmentID>) throws -> [Enrollment]
    /// Those that are not over and came after one, nil for all, oldest first: at most `limit`.
    ///
    /// Empty after one that is not there.
    func enrollments(after id: EnrollmentID?, limit: Int) throws -> [Enrollment]
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
    /// The same of every key whose PIN was tried.
    func keyTries() throws -> [KeyIdentity: PINTries]
    /// Whether the tries of a key's PIN can be counted: they are already, or fewer than
    /// ``PINTries/keysWithoutEnrollment`` keys are counted that no enrollment uses.
    func hasRoomForTries(of key: KeyIdentity) throws -> Bool

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
    /// The number of requests of an enrollment that were refused or too late between two times, seconds since 1970.
    func unpresentedCount(enrollment: EnrollmentID, since: Int64, until: Int64) throws -> Int
    /// Pending requests whose `exp` is at or before `now`.
    func duePending(now: Int64, limit: Int) throws -> [RequestRecord]
    /// The earliest `exp` of a pending request; it looks at all that are pending.
    func nextDeadline() throws -> Int64?
    /// The earliest `exp` of a pending request of an enrollment.
    func nextDeadline(of enrollment: EnrollmentID) throws -> Int64?
    /// When the request or enrollment that is the newest in the store came; seconds since 1970.
    func newestTime() throws -> Int64?

    func message(enrollment: EnrollmentID, jti: TokenID) throws -> SeenMessage?
    /// The messages of an enrollment in the store, and the bytes of them and of its issuer's.
    ///
    /// Messages are counted between two times, seconds since 1970, and up to five minutes around them: by slots of five
    /// minutes of the clock, of which the first and last are counted whole. The same message again does not count.
    func storedTally(of enrollment: EnrollmentID, since: Int64, until: Int64) throws -> StoredTally
    /// The bytes of the whole database; in a file, without its log.
    func databaseBytes() throws -> Int64
    /// The number of cancellations of an enrollment that count after a time, seconds since 1970.
    func cancellationCount(enrollment: EnrollmentID, after time: Int64) throws -> Int
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

    /// The proven time; nil before it was kept first.
    func provenTime() throws -> ProvenMoment?
    /// Whether an enrollment at another issuer is active.
    func hasActiveEnrollment(notOf issuer: IssuerURL) throws -> Bool

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
    /// The other hosts that have a chain of the journal, or anything of one, by name: the first ``HostName/maxOthers``.
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
    /// Whether a change of the secret is under way among several hosts, and cannot be given up any more.
    func isSecretChangeSurveyed() throws -> Bool
    /// Whether the store's files may have in their free space what a change of the secret has written over.
    func isScrubDue() throws -> Bool
    /// The key under which rows stand in sums, as it was sealed; nil before the first write.
    func sealedRowKey() throws -> [UInt8]?
    /// Reads all rows that have a seal, as of one moment, and holds them against the sums that the hosts' heads have.
    ///
    /// It comes first in its database transaction, which reads on a connection of its own (``Store/survey(_:)``). If they
    /// agree, no older row is used in what is written from then on.
    ///
    /// - Parameter isWanted: asked again and again; once it says no, `CancellationError` is thrown.
    func surveyRows(while isWanted: () -> Bool) throws -> RowSurvey
}

extension StoreReader {
    package func surveyRows() throws -> RowSurvey { try surveyRows { true } }

    package func requests(pendingOnly: Bool, enrollment: EnrollmentID?, limit: Int) throws -> [RequestRecord] {
        try requests(pendingOnly: pendingOnly, enrollment: enrollment, page: RequestPage(), limit: limit)
    }
}
