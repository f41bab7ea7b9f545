import IssuerProtocol
import Journal
import Records
import StoreTables
import TextAndTime
import ThreeDS

/// Admission of one authentic message into the store, in one database transaction: dedup, conflict, supersede.
///
/// A transaction is presented once and decided once, however often and by any channel it arrives.
struct RequestAdmission {
    let enrollment: Enrollment
    let now: Int64
    /// The message's time of arrival.
    ///
    /// A clock that is behind does not make it older.
    let receivedAt: Int64
    /// The proven time.
    let provenNow: Int64
    let bounds: AgentBounds
    /// The id for a new request, made before the database transaction.
    let newId: RequestID
    /// The zone in which times are shown.
    let localTime: LocalTime

    private static let day: Int64 = 86_400

    func admit(_ read: VerifiedRequest, message: String, in store: StoreTransaction) throws -> Outcome {
        if let seen = try store.message(enrollment: enrollment.id, jti: read.jti) {
            return try receiveAgain(seen, digest: read.payloadDigest, in: store)
        }
        // Each outcome takes room in the store, even for a request that is presented for only a second.
        let tally = try tally(in: store)
        guard tally.messages < bounds.messagesADay else { return .overQuota }
        guard bounds.hasRoom(beside: tally, eighthsMore: 1) else { return .noRoom }
        let arrival = Arrival(read: read, message: message, hasRoom: bounds.hasRoom(beside: tally))
        // The clock may have been set since the message was read. The store has compared this time with its own.
        switch read.verdict(at: now) {
        case .early(let seconds): return .early(secondsAhead: seconds)
        case .tooEarly(let seconds): return .tooEarly(secondsAhead: seconds)
        case .expired:
            return try enterLate(arrival, in: store)
        case .refused(let refusal):
            return try refuse(arrival, token: refusal.token, reason: refusal.reason, in: store)
        case .inOrder(let request):
            return try admitInOrder(request, from: arrival, in: store)
        }
    }

    /// An authentic message with an unknown jti.
    private struct Arrival {
        let read: VerifiedRequest
        let message: String
        /// Whether it may be presented, and is stored in full even if it is not.
        let hasRoom: Bool
    }

    /// Stores an expired message, which is never presented.
    private func enterLate(_ arrival: Arrival, in store: StoreTransaction) throws -> Outcome {
        guard try isWithinQuota(in: store) else { return .overQuota }
        let late = try insert(arrival, presented: nil, life: .expired, in: store).request
        try store.record(.expired(late, by: try remember(arrival.read, as: newId, in: store)), at: now)
        return .entered
    }

    /// Handles a message with a known jti.
    ///
    /// The same bytes change no row. Other bytes are a conflict, which is recorded once.
    func receiveAgain(_ seen: SeenMessage, digest: [UInt8], in store: StoreTransaction) throws -> Outcome {
        guard seen.payloadDigest != digest else { return .known }
        if !seen.isReused {
            try store.markReused(seen)
            try store.record(.conflict(seen), at: now)
        }
        return .reusedJTI
    }

    private func admitInOrder(_ request: AuthnRequest, from arrival: Arrival, in store: StoreTransaction) throws
        -> Outcome
    {
        let acsTransId = request.transaction.acsTransId.canonical
        guard var holder = try store.newestPresented(enrollment: enrollment.id, acsTransId: acsTransId) else {
            return try present(request, from: arrival, in: store)
        }
        let hasExpired = try expireIfDue(&holder, in: store)
        let outcome = try admitAgain(request, from: arrival, besides: holder, in: store)
        if hasExpired, case .known = outcome { return .entered }
        return outcome
    }

    /// Admits a message about a transaction that was presented before.
    private func admitAgain(
        _ request: AuthnRequest, from arrival: Arrival, besides holder: RequestRecord, in store: StoreTransaction
    ) throws -> Outcome {
        // A damaged request whose digest is lost can never be decided: the newer message replaces it.
        let isUnknown = holder.isDamaged && holder.transactionDigest == nil && holder.life.state == .pending
        guard isUnknown || holder.transactionDigest == request.transactionDigest else {
            return try conflict(of: arrival, with: holder, in: store)
        }
        switch holder.life.state {
        case .pending:
            return try supersede(holder, by: request, from: arrival, in: store)
        case .approved, .denied, .refused:
            return try answerDuplicate(request, from: arrival.read, of: holder, in: store)
        case .expired, .cancelled:
            // Only a newer message presents the transaction again, never an older message that comes late.
            guard request.iat > (holder.iat ?? .min) else {
                return try receiveOlder(arrival.read, of: holder, in: store)
            }
            return try present(request, from: arrival, in: store)
        }
    }

    /// Closes an expired request of an acsTransId that the ``ExpiryService`` has not closed yet.
    ///
    /// - Returns: whether it was closed.
    private func expireIfDue(_ holder: inout RequestRecord, in store: StoreTransaction) throws -> Bool {
        guard let exp = holder.exp, exp <= now, holder.life.expire() else { return false }
        try store.updateLife(of: holder)
        try store.record(.expired(holder), at: now)
        return true
    }

    private func present(_ request: AuthnRequest, from arrival: Arrival, in store: StoreTransaction) throws -> Outcome {
        let presented = PresentedRequest(request)
        if try isTakenBack(arrival.read.jti, in: store) {
            let cancelled = try insert(arrival, presented: presented, life: .cancelled, in: store)
            try store.record(
                .cancelled(cancelled.request, by: try remember(arrival.read, as: newId, in: store)), at: now)
            return .entered
        }
        guard arrival.hasRoom else { return try refuse(arrival, own: .tooManyBytes, reason: .policy, in: store) }
        guard try store.pendingCount(enrollment: enrollment.id) < bounds.undecided else {
            return try refuse(arrival, own: .tooManyUndecided, reason: .policy, in: store)
        }
        let pending = try insert(arrival, presented: presented, life: .pending, in: store)
        let seen = try remember(arrival.read, as: newId, in: store)
        try store.record(.presented(pending.request, text: try pending.text?.digest, by: seen), at: now)
        return .presented(newId)
    }

    /// Returns whether a valid cancellation came before its request.
    private func isTakenBack(_ jti: TokenID, in store: StoreTransaction) throws -> Bool {
        guard let cancellation = try store.cancellation(enrollment: enrollment.id, of: jti) else { return false }
        return cancellation.until > now
    }

    /// Replaces the message of a pending request that comes again under a new jti.
    ///
    /// A later approval answers the message with the greatest `iat`.
    private func supersede(
        _ holder: RequestRecord, by request: AuthnRequest, from arrival: Arrival, in store: StoreTransaction
    ) throws -> Outcome {
        guard request.iat > (holder.iat ?? .min) else { return try receiveOlder(arrival.read, of: holder, in: store) }
        var newer = holder
        newer.jti = arrival.read.jti
        newer.iat = request.iat
        newer.exp = request.exp
        newer.message = arrival.message
        newer.traceparent = request.traceparent
        // A signature covers the newer bytes: acsTransId may be in another case there.
        newer.presented = PresentedRequest(request)
        let isCancelled = try isTakenBack(arrival.read.jti, in: store) && newer.life.cancel()
        try store.update(newer)
        // Only after the update, which uses the damage to find out whether the older message is still there to be
        // replaced.
        newer.damage = nil
        let text = keptText(of: newer)
        try store.keep(KeptEvidence(issuerKey: arrival.read.issuerKey, text: text?.text), of: newer.id)
        let seen = try remember(arrival.read, as: newer.id, in: store)
        let fact: JournalFact =
            try isCancelled
            ? .cancelled(newer, by: seen) : .superseded(newer, text: text?.digest, by: seen)
        try store.record(fact, at: now)
        return .entered
    }

    /// Records a message that is older than its known request, which stays unchanged.
    private func receiveOlder(
        _ read: VerifiedRequest, of holder: RequestRecord, in store: StoreTransaction
    ) throws -> Outcome {
        let message = try remember(read, as: holder.id, in: store)
        try store.record(.received(message, acsTransId: read.acsTransId?.canonical), at: now)
        return .known
    }

    /// Denies another message of a decided transaction as `duplicate`, without a new decision.
    private func answerDuplicate(
        _ request: AuthnRequest, from read: VerifiedRequest, of holder: RequestRecord, in store: StoreTransaction
    ) throws -> Outcome {
        let answer = DuplicateAnswer(exp: request.exp, traceparent: request.traceparent)
        let message = try remember(read, as: holder.id, answer: answer, in: store)
        try store.record(.duplicate(message, acsTransId: read.acsTransId?.canonical), at: now)
        return .entered
    }

    /// Refuses another transaction under a known acsTransId, and marks the first one if it is undecided.
    private func conflict(of arrival: Arrival, with holder: RequestRecord, in store: StoreTransaction) throws -> Outcome
    {
        var marked = holder
        if holder.life.state == .pending, !holder.hasConflict {
            marked.hasConflict = true
            try store.updateLife(of: marked)
        }
        let refused = try refuse(arrival, own: .conflict, reason: .invalidRequest, in: store)
        guard case .refused = refused else { return refused }
        if let text = keptText(of: marked) { try store.keep(KeptEvidence(text: text.text), of: marked.id) }
        let digest = try marked.text(for: enrollment, localTime)?.digest
        try store.record(.conflict(seen(arrival.read, as: holder.id), text: digest), at: now)
        return .refused(.conflict)
    }

    private func refuse(
        _ arrival: Arrival, own: Refusal, reason: DenyReason, in store: StoreTransaction
    ) throws -> Outcome {
        let outcome = try refuse(arrival, token: own.rawValue, reason: reason, in: store)
        guard case .refused = outcome else { return outcome }
        return .refused(own)
    }

    private func refuse(
        _ arrival: Arrival, token: String, reason: DenyReason, in store: StoreTransaction
    ) throws -> Outcome {
        guard try isWithinQuota(in: store) else { return .overQuota }
        let refused = try insert(
            arrival, presented: nil, life: .refused(token: token, reason: reason),
            decision: DecisionBody.deny(reason), in: store
        ).request
        let seen = try remember(arrival.read, as: newId, in: store)
        try store.record(.refused(refused, token: token, reason: reason, by: seen), at: now)
        return .refused(nil)
    }

    /// Counts the messages of the last 24 hours and up to five minutes more.
    ///
    /// Each jti counts once, with any outcome.
    func tally(in store: StoreReading) throws -> StoredTally {
        try store.storedTally(of: enrollment.id, since: receivedAt - Self.day, until: receivedAt)
    }

    private func isWithinQuota(in store: StoreReading) throws -> Bool {
        try store.unpresentedCount(enrollment: enrollment.id, since: receivedAt - Self.day, until: receivedAt)
            < bounds.refusedADay
    }

    /// - Returns: the request, and the text that was stored of it.
    private func insert(
        _ arrival: Arrival, presented: PresentedRequest?, life: RequestLife,
        decision: [UInt8]? = nil, in store: StoreTransaction
    ) throws -> (request: RequestRecord, text: TransactionText?) {
        let read = arrival.read
        // Without room, only the digest is stored of a request that is refused for any reason or comes too late.
        let message = arrival.hasRoom || presented != nil ? arrival.message : ""
        let request = RequestRecord(
            id: newId, enrollmentId: enrollment.id, jti: read.jti, iat: read.iat, exp: read.exp,
            presented: presented, acsTransId: read.acsTransId?.canonical, message: message,
            traceparent: read.traceparent, receivedAt: receivedAt, life: life)
        let text = keptText(of: request)
        try store.insert(request, KeptEvidence(issuerKey: read.issuerKey, text: text?.text, decision: decision))
        return (request, text)
    }

    private func remember(
        _ read: VerifiedRequest, as id: RequestID, answer: DuplicateAnswer? = nil, in store: StoreTransaction
    ) throws -> SeenMessage {
        let message = seen(read, as: id, answer: answer)
        try store.insert(message)
        return message
    }

    private func seen(_ read: VerifiedRequest, as id: RequestID, answer: DuplicateAnswer? = nil) -> SeenMessage {
        SeenMessage(
            enrollmentId: enrollment.id, jti: read.jti, payloadDigest: read.payloadDigest, requestId: id,
            seenAt: receivedAt,
            answer: answer)
    }

    /// Returns the text of an undecided request, which is stored because it cannot be made again later.
    private func keptText(of request: RequestRecord) -> TransactionText? {
        request.life.state == .pending ? request.text(for: enrollment, localTime) : nil
    }
}
