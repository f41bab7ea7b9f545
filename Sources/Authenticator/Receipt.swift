import IssuerProtocol
import ThreeDS

/// Enters one authentic message into the book, inside one database transaction: dedup, conflict, supersede.
///
/// What an enrollment was asked once is presented once and decided once, whatever arrives how often by which way.
struct Receipt {
    let enrollment: Enrollment
    let now: Int64
    let maxUndecided: Int
    /// How many requests of an enrollment are kept within 24 hours that are never presented.
    let maxRefused: Int
    /// Ids for requests, made before the database transaction.
    let newId: RequestID

    private static let day: Int64 = 86_400

    /// What became of a message.
    enum Outcome: Sendable {
        case entered([AgentEvent])
        /// Its jti, or its transaction under another jti, is known; nothing to do.
        case known
        /// The jti stands for other octets: it is never answered.
        case reusedJTI
        /// Too many that are never presented came within a day: it is neither kept nor answered.
        case overQuota
        /// `iat` is ahead: it is not in the book.
        case early(secondsAhead: Int64)
        case tooEarly(secondsAhead: Int64)
    }

    func enter(_ read: ReadRequest, message: String, in book: any BookWriter) throws -> Outcome {
        if let seen = try book.message(enrollment: enrollment.id, jti: read.jti) {
            return seen.payloadDigest == read.payloadDigest ? .known : .reusedJTI
        }
        switch read.verdict {
        case .early(let seconds): return .early(secondsAhead: seconds)
        case .tooEarly(let seconds): return .tooEarly(secondsAhead: seconds)
        case .expired:
            guard try isWithinQuota(in: book) else { return .overQuota }
            try insert(read, message, presented: nil, life: .expired, in: book)
            return .entered([.requestExpired(newId)])
        case .refused(let refusal):
            return try refuse(read, message, token: refusal.token, reason: refusal.reason, in: book)
        case .inOrder(let request):
            return try enter(request, read, message, in: book)
        }
    }

    private func enter(
        _ request: AuthnRequest, _ read: ReadRequest, _ message: String, in book: any BookWriter
    ) throws -> Outcome {
        let acsTransId = request.transaction.acsTransId.canonical
        guard let holder = try currentHolder(of: acsTransId, in: book) else {
            return try present(request, read, message, in: book)
        }
        guard holder.presented?.transactionDigest == request.transactionDigest else {
            return try conflict(with: holder, read, message, in: book)
        }
        switch holder.life.state {
        case .pending:
            return try supersede(holder, by: request, read, message, in: book)
        case .approved, .denied, .refused:
            return .entered(try answerDuplicate(request, read, of: holder, in: book))
        case .expired, .cancelled:
            // Presented anew only by a later one: an older one that comes late never is.
            guard request.iat > (holder.iat ?? .min) else {
                try remember(read, as: holder.id, in: book)
                return .known
            }
            return try present(request, read, message, in: book)
        }
    }

    /// The request that holds an acsTransId, expired here and now where its time is over.
    private func currentHolder(of acsTransId: String, in book: any BookWriter) throws -> RequestRecord? {
        guard var holder = try book.newestPresented(enrollment: enrollment.id, acsTransId: acsTransId) else {
            return nil
        }
        if let exp = holder.exp, exp <= now, holder.life.expire() { try book.update(holder) }
        return holder
    }

    private func present(
        _ request: AuthnRequest, _ read: ReadRequest, _ message: String, in book: any BookWriter
    ) throws -> Outcome {
        let presented = PresentedRequest(request)
        if try isTakenBack(read.jti, in: book) {
            try insert(read, message, presented: presented, life: .cancelled, in: book)
            return .entered([.requestCancelled(newId)])
        }
        guard try book.pendingCount(enrollment: enrollment.id) < maxUndecided else {
            return try refuse(read, message, token: "tooManyUndecided", reason: .policy, in: book)
        }
        try insert(read, message, presented: presented, life: .pending, in: book)
        return .entered([.requestPresented(newId), .deadlineMoved])
    }

    /// Whether a cancellation came first and still counts.
    private func isTakenBack(_ jti: TokenID, in book: any BookWriter) throws -> Bool {
        guard let cancellation = try book.cancellation(enrollment: enrollment.id, of: jti) else { return false }
        return cancellation.until > now
    }

    /// The same transaction under a new jti: a later approval answers the one with the greatest `iat`.
    private func supersede(
        _ holder: RequestRecord, by request: AuthnRequest, _ read: ReadRequest, _ message: String,
        in book: any BookWriter
    ) throws -> Outcome {
        try remember(read, as: holder.id, in: book)
        guard request.iat > (holder.iat ?? .min) else { return .known }
        var newer = holder
        newer.jti = read.jti
        newer.iat = request.iat
        newer.exp = request.exp
        newer.message = message
        // The newer octets are the ones that a signature covers: acsTransId may have come in another case.
        newer.presented = PresentedRequest(request)
        let isCancelled = try isTakenBack(read.jti, in: book) && newer.life.cancel()
        try book.update(newer)
        return .entered([isCancelled ? .requestCancelled(holder.id) : .requestSuperseded(holder.id), .deadlineMoved])
    }

    /// A decided transaction that is asked again is not decided again.
    private func answerDuplicate(
        _ request: AuthnRequest, _ read: ReadRequest, of holder: RequestRecord, in book: any BookWriter
    ) throws -> [AgentEvent] {
        try remember(read, as: holder.id, in: book)
        try book.insert(
            OutboxEntry(
                sequence: nil, enrollmentId: enrollment.id, jti: read.jti, requestId: nil, signCount: nil,
                body: DecisionBody.deny(.duplicate), exp: request.exp, traceparent: request.traceparent))
        return [.requestDuplicate(holder.id), .outboxFilled(enrollment.id)]
    }

    /// Another transaction under a known acsTransId: the newcomer is refused, an undecided first one is marked.
    private func conflict(
        with holder: RequestRecord, _ read: ReadRequest, _ message: String, in book: any BookWriter
    ) throws -> Outcome {
        if holder.life.state == .pending, !holder.hasConflict {
            var marked = holder
            marked.hasConflict = true
            try book.update(marked)
        }
        let refused = try refuse(read, message, token: "conflict", reason: .invalidRequest, in: book)
        guard case .entered(let events) = refused else { return refused }
        return .entered([.requestConflict(enrollment.id)] + events)
    }

    private func refuse(
        _ read: ReadRequest, _ message: String, token: String, reason: DenyReason, in book: any BookWriter
    ) throws -> Outcome {
        guard try isWithinQuota(in: book) else { return .overQuota }
        try insert(read, message, presented: nil, life: .refused(token: token, reason: reason), in: book)
        try book.insert(
            OutboxEntry(
                sequence: nil, enrollmentId: enrollment.id, jti: read.jti, requestId: newId, signCount: nil,
                body: DecisionBody.deny(reason), exp: answerUntil(read), traceparent: read.traceparent))
        return .entered([.requestRefused(newId), .outboxFilled(enrollment.id)])
    }

    private func isWithinQuota(in book: any BookReader) throws -> Bool {
        try book.unpresentedCount(enrollment: enrollment.id, since: now - Self.day) < maxRefused
    }

    /// Until when a refusal is worth sending: `exp`, or a day where that is missing or too far off.
    private func answerUntil(_ read: ReadRequest) -> Int64 {
        min(read.exp ?? now + Self.day, now + Self.day)
    }

    private func insert(
        _ read: ReadRequest, _ message: String, presented: PresentedRequest?, life: RequestLife,
        in book: any BookWriter
    ) throws {
        try book.insert(
            RequestRecord(
                id: newId, enrollmentId: enrollment.id, jti: read.jti, iat: read.iat, exp: read.exp,
                presented: presented, acsTransId: read.acsTransId?.canonical, message: message, receivedAt: now,
                decidedAt: nil, life: life, hasConflict: false))
        try remember(read, as: newId, in: book)
    }

    private func remember(_ read: ReadRequest, as id: RequestID, in book: any BookWriter) throws {
        try book.insert(
            SeenMessage(
                enrollmentId: enrollment.id, jti: read.jti, payloadDigest: read.payloadDigest, requestId: id))
    }
}
