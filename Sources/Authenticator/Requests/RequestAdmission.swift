import IssuerProtocol
import ThreeDS

/// Admits one authentic message into the store, in one database transaction: dedup, conflict, supersede.
///
/// What an enrollment was asked is presented once and decided once, however often and by whatever channel it arrives.
struct RequestAdmission {
    let enrollment: Enrollment
    let now: Int64
    /// When the message counts as having come: a clock that is behind makes it no older.
    let receivedAt: Int64
    /// The proven time.
    let provenNow: Int64
    let bounds: AgentBounds
    /// Ids for requests, made before the database transaction.
    let newId: RequestID
    /// The zone in which times are shown.
    let localTime: LocalTime

    private static let day: Int64 = 86_400

    /// Why a request is refused that is in order by itself; the raw values are stable.
    enum Refusal: String, CaseIterable {
        case tooManyUndecided, conflict

        /// The fault and what is allowed, for a log line.
        var sentence: String {
            switch self {
            case .tooManyUndecided: "as many requests as max-undecided are undecided"
            case .conflict: "its acsTransId stands for another transaction"
            }
        }
    }

    /// What became of a message.
    enum Outcome: Sendable {
        /// It is in the store, and pending.
        case presented(RequestID)
        /// It is in the store, and its denial in the outbox.
        case refused(isConflict: Bool)
        /// Anything else that changed the store.
        case entered
        /// Its jti, or its transaction under another jti, is known; nothing to do.
        case known
        /// The jti stands for other bytes: it is never answered.
        case reusedJTI
        /// Too many came within a day, or too many that are never presented: it is neither kept nor answered.
        case overQuota
        /// `iat` is ahead: it is not in the store.
        case early(secondsAhead: Int64)
        case tooEarly(secondsAhead: Int64)

        /// Whether it is in the store now, and was not before.
        var isNews: Bool {
            switch self {
            case .presented, .refused, .entered: true
            case .known, .reusedJTI, .overQuota, .early, .tooEarly: false
            }
        }
    }

    func admit(_ read: VerifiedRequest, message: String, in store: any StoreWriter) throws -> Outcome {
        if let seen = try store.message(enrollment: enrollment.id, jti: read.jti) {
            return try outcome(of: seen, comingAgainAs: read.payloadDigest, in: store)
        }
        // Whatever becomes of it, it takes room in the store: also one that is presented for a second only.
        guard try messagesOfADay(in: store) < bounds.messagesADay else { return .overQuota }
        switch read.verdict {
        case .early(let seconds): return .early(secondsAhead: seconds)
        case .tooEarly(let seconds): return .tooEarly(secondsAhead: seconds)
        case .expired:
            return try enterLate(read, message: message, in: store)
        case .refused(let refusal):
            return try refuse(read, message: message, token: refusal.token, reason: refusal.reason, in: store)
        case .inOrder(let request):
            // Its time may have ended while it waited to be written.
            guard request.exp > now else { return try enterLate(read, message: message, in: store) }
            return try admit(request, from: read, message: message, in: store)
        }
    }

    /// A message whose time is over: it is remembered, and never presented.
    private func enterLate(_ read: VerifiedRequest, message: String, in store: any StoreWriter) throws -> Outcome {
        guard try isWithinQuota(in: store) else { return .overQuota }
        let late = try insert(read, message: message, presented: nil, life: .expired, in: store).request
        try store.record(.expired(late, by: try remember(read, as: newId, in: store)), at: now)
        return .entered
    }

    /// A message whose jti is known: the same bytes are no news, others are a conflict, which is recorded once.
    func outcome(of seen: SeenMessage, comingAgainAs digest: [UInt8], in store: any StoreWriter) throws -> Outcome {
        guard seen.payloadDigest != digest else { return .known }
        if !seen.isReused {
            try store.markReused(seen)
            try store.record(.conflict(seen), at: now)
        }
        return .reusedJTI
    }

    private func admit(
        _ request: AuthnRequest, from read: VerifiedRequest, message: String, in store: any StoreWriter
    ) throws -> Outcome {
        let acsTransId = request.transaction.acsTransId.canonical
        guard var holder = try store.newestPresented(enrollment: enrollment.id, acsTransId: acsTransId) else {
            return try present(request, from: read, message: message, in: store)
        }
        let hasExpired = try expireIfDue(&holder, in: store)
        let outcome = try admit(request, from: read, message: message, besides: holder, in: store)
        if hasExpired, case .known = outcome { return .entered }
        return outcome
    }

    private func admit(
        _ request: AuthnRequest, from read: VerifiedRequest, message: String, besides holder: RequestRecord,
        in store: any StoreWriter
    ) throws -> Outcome {
        guard holder.presented?.transactionDigest == request.transactionDigest else {
            return try conflict(of: read, message: message, with: holder, in: store)
        }
        switch holder.life.state {
        case .pending:
            return try supersede(holder, by: request, from: read, message: message, in: store)
        case .approved, .denied, .refused:
            return try answerDuplicate(request, from: read, of: holder, in: store)
        case .expired, .cancelled:
            // Presented anew only by a later one: an older one that comes late never is.
            guard request.iat > (holder.iat ?? .min) else { return try receiveOlder(read, of: holder, in: store) }
            return try present(request, from: read, message: message, in: store)
        }
    }

    /// Closes the request that holds an acsTransId, if its time is over and the clock has not come to it yet.
    ///
    /// - Returns: whether it did.
    private func expireIfDue(_ holder: inout RequestRecord, in store: any StoreWriter) throws -> Bool {
        guard let exp = holder.exp, exp <= now, holder.life.expire() else { return false }
        try store.updateLife(of: holder)
        try store.record(.expired(holder), at: now)
        return true
    }

    private func present(
        _ request: AuthnRequest, from read: VerifiedRequest, message: String, in store: any StoreWriter
    ) throws -> Outcome {
        let presented = PresentedRequest(request)
        if try isTakenBack(read.jti, in: store) {
            let cancelled = try insert(read, message: message, presented: presented, life: .cancelled, in: store)
            try store.record(.cancelled(cancelled.request, by: try remember(read, as: newId, in: store)), at: now)
            return .entered
        }
        guard try store.pendingCount(enrollment: enrollment.id) < bounds.undecided else {
            return try refuse(
                read, message: message, token: Refusal.tooManyUndecided.rawValue, reason: .policy, in: store)
        }
        let pending = try insert(read, message: message, presented: presented, life: .pending, in: store)
        let seen = try remember(read, as: newId, in: store)
        try store.record(.presented(pending.request, text: try pending.text?.digest, by: seen), at: now)
        return .presented(newId)
    }

    /// Whether a cancellation came first and still counts.
    private func isTakenBack(_ jti: TokenID, in store: any StoreWriter) throws -> Bool {
        guard let cancellation = try store.cancellation(enrollment: enrollment.id, of: jti) else { return false }
        return cancellation.until > now
    }

    /// The same transaction under a new jti: a later approval answers the one with the greatest `iat`.
    private func supersede(
        _ holder: RequestRecord, by request: AuthnRequest, from read: VerifiedRequest, message: String,
        in store: any StoreWriter
    ) throws -> Outcome {
        guard request.iat > (holder.iat ?? .min) else { return try receiveOlder(read, of: holder, in: store) }
        var newer = holder
        newer.jti = read.jti
        newer.iat = request.iat
        newer.exp = request.exp
        newer.message = message
        newer.traceparent = request.traceparent
        // The newer bytes are the ones that a signature covers: acsTransId may have come in another case.
        newer.presented = PresentedRequest(request)
        let isCancelled = try isTakenBack(read.jti, in: store) && newer.life.cancel()
        try store.update(newer)
        let text = keptText(of: newer)
        try store.keep(KeptEvidence(issuerKey: read.issuerKey, text: text?.text), of: newer.id)
        let seen = try remember(read, as: newer.id, in: store)
        let fact: JournalFact =
            try isCancelled
            ? .cancelled(newer, by: seen) : .superseded(newer, text: text?.digest, by: seen)
        try store.record(fact, at: now)
        return .entered
    }

    /// A message of a known request that is older than the request's: it is remembered, and changes nothing.
    private func receiveOlder(
        _ read: VerifiedRequest, of holder: RequestRecord, in store: any StoreWriter
    ) throws -> Outcome {
        let message = try remember(read, as: holder.id, in: store)
        try store.record(.received(message, acsTransId: read.acsTransId?.canonical), at: now)
        return .known
    }

    /// A decided transaction that is asked again is not decided again.
    private func answerDuplicate(
        _ request: AuthnRequest, from read: VerifiedRequest, of holder: RequestRecord, in store: any StoreWriter
    ) throws -> Outcome {
        let answer = DuplicateAnswer(exp: request.exp, traceparent: request.traceparent)
        let message = try remember(read, as: holder.id, answer: answer, in: store)
        try store.record(.duplicate(message, acsTransId: read.acsTransId?.canonical), at: now)
        return .entered
    }

    /// Another transaction under a known acsTransId: the newcomer is refused, an undecided first one is marked.
    private func conflict(
        of read: VerifiedRequest, message: String, with holder: RequestRecord, in store: any StoreWriter
    ) throws -> Outcome {
        var marked = holder
        if holder.life.state == .pending, !holder.hasConflict {
            marked.hasConflict = true
            try store.updateLife(of: marked)
        }
        let refused = try refuse(
            read, message: message, token: Refusal.conflict.rawValue, reason: .invalidRequest, in: store)
        guard case .refused = refused else { return refused }
        if let text = keptText(of: marked) { try store.keep(KeptEvidence(text: text.text), of: marked.id) }
        let digest = try marked.text(for: enrollment, localTime)?.digest
        try store.record(.conflict(seen(read, as: holder.id), text: digest), at: now)
        return .refused(isConflict: true)
    }

    private func refuse(
        _ read: VerifiedRequest, message: String, token: String, reason: DenyReason, in store: any StoreWriter
    ) throws -> Outcome {
        guard try isWithinQuota(in: store) else { return .overQuota }
        let refused = try insert(
            read, message: message, presented: nil, life: .refused(token: token, reason: reason),
            decision: DecisionBody.deny(reason), in: store
        ).request
        let seen = try remember(read, as: newId, in: store)
        try store.record(.refused(refused, token: token, reason: reason, by: seen), at: now)
        return .refused(isConflict: false)
    }

    /// The messages of 24 hours and up to five minutes, each jti once, whatever became of it.
    func messagesOfADay(in store: any StoreReader) throws -> Int {
        try store.messageCount(enrollment: enrollment.id, since: receivedAt - Self.day, until: receivedAt)
    }

    private func isWithinQuota(in store: any StoreReader) throws -> Bool {
        try store.unpresentedCount(enrollment: enrollment.id, since: receivedAt - Self.day, until: receivedAt)
            < bounds.refusedADay
    }

    /// - Returns: the request, and the text that was kept of it.
    private func insert(
        _ read: VerifiedRequest, message: String, presented: PresentedRequest?, life: RequestLife,
        decision: [UInt8]? = nil, in store: any StoreWriter
    ) throws -> (request: RequestRecord, text: TransactionText?) {
        let request = RequestRecord(
            id: newId, enrollmentId: enrollment.id, jti: read.jti, iat: read.iat, exp: read.exp,
            presented: presented, acsTransId: read.acsTransId?.canonical, message: message,
            traceparent: read.traceparent, receivedAt: receivedAt, life: life)
        let text = keptText(of: request)
        try store.insert(request, KeptEvidence(issuerKey: read.issuerKey, text: text?.text, decision: decision))
        return (request, text)
    }

    private func remember(
        _ read: VerifiedRequest, as id: RequestID, answer: DuplicateAnswer? = nil, in store: any StoreWriter
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

    /// The text of an undecided request, which is kept because it cannot be made again later.
    private func keptText(of request: RequestRecord) -> TransactionText? {
        request.life.state == .pending ? request.text(for: enrollment, localTime) : nil
    }
}
