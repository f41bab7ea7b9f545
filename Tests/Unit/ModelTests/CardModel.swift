import IssuerProtocol

/// One enrollment's part of the model.
struct CardModel: Sendable {
    /// Seconds that an `iat` may be ahead, and for which a message is held.
    static let tolerance: Int64 = 60
    static let longestHold: Int64 = 600
    /// Seconds after which nothing is decided any more, however long the key is at work.
    static let longestDecision: Int64 = 30

    enum State: Sendable, Hashable {
        case pending, approved, denied, expired, cancelled
        case refused(DenyReason)
    }

    enum Delivery: Sendable, Hashable {
        case none, queued, delivered, failed
    }

    /// One request as a person sees it.
    struct Row: Sendable {
        var jti: Int
        let acs: Int
        let transaction: Int
        var iat: Int64
        var exp: Int64
        /// Whether it was presented, or would have been without its cancellation.
        let isPresentable: Bool
        var state: State
        var delivery = Delivery.none
        var hasConflict = false

        func isLive(at now: Int64) -> Bool { state == .pending && exp > now }
    }

    enum Answer: Sendable, Hashable {
        case approve
        case deny(DenyReason)
    }

    /// A decision that the issuer has not answered yet.
    struct Entry: Sendable {
        let jti: Int
        let answer: Answer
        let exp: Int64
        let row: Int?

        var queue: Queue { answer == .approve ? .approvals : .denials }
    }

    var rows: [Row] = []
    var outbox: [Entry] = []
    var held: [PlannedRequest] = []
    var isSuspended = false
    /// Whether it was ended: for good, and nothing comes of it any more.
    private(set) var isOver = false
    private var seen: [Int: Message] = [:]
    /// Until when each jti counts as taken back.
    private var takenBack: [Int: Int64] = [:]

    // MARK: Receiving

    mutating func take(_ message: Message, at now: Int64) {
        guard !isOver else { return }
        switch message {
        case .request(let request): take(request, at: now)
        case .cancellation(let cancellation): take(cancellation, at: now)
        }
    }

    /// The table of what happens to a request that is not in order: the first row that fits.
    mutating func take(_ request: PlannedRequest, at now: Int64) {
        if isOver { return }
        if request.flaw == .signature || request.flaw == .jti || seen[request.jti] != nil { return }
        if request.exp <= now { return add(request, .expired) }
        if request.iat - now > Self.longestHold { return }
        if request.iat - now > Self.tolerance {
            if !held.contains(request) { held.append(request) }
            return
        }
        if request.exp <= request.iat || request.flaw == .exponent { return refuse(request, .invalidRequest) }
        if request.flaw == .userVerification { return refuse(request, .policy) }
        present(request, at: now)
    }

    /// Once only: presented once, decided once, whatever comes under the same acsTransId.
    private mutating func present(_ request: PlannedRequest, at now: Int64) {
        guard let first = rows.lastIndex(where: { $0.acs == request.acs && $0.isPresentable }) else {
            return open(request, at: now)
        }
        let isLive = rows[first].isLive(at: now)
        if rows[first].transaction != request.transaction {
            if isLive { rows[first].hasConflict = true }
            return refuse(request, .invalidRequest)
        }
        let isNewer = request.iat > rows[first].iat
        switch rows[first].state {
        case .pending where isLive:
            seen[request.jti] = .request(request)
            guard isNewer else { return }
            rows[first].jti = request.jti
            rows[first].iat = request.iat
            rows[first].exp = request.exp
            if isTakenBack(request.jti, at: now) { rows[first].state = .cancelled }
        case .approved, .denied:
            seen[request.jti] = .request(request)
            outbox.append(Entry(jti: request.jti, answer: .deny(.duplicate), exp: request.exp, row: nil))
        case .pending, .expired, .cancelled, .refused:
            rows[first].state = rows[first].state == .pending ? .expired : rows[first].state
            if isNewer { return open(request, at: now) }
            seen[request.jti] = .request(request)
        }
    }

    private mutating func open(_ request: PlannedRequest, at now: Int64) {
        add(request, isTakenBack(request.jti, at: now) ? .cancelled : .pending, isPresentable: true)
    }

    private mutating func refuse(_ request: PlannedRequest, _ reason: DenyReason) {
        add(request, .refused(reason))
        queue(.deny(reason), row: rows.count - 1)
    }

    private mutating func add(_ request: PlannedRequest, _ state: State, isPresentable: Bool = false) {
        seen[request.jti] = .request(request)
        rows.append(
            Row(
                jti: request.jti, acs: request.acs, transaction: request.transaction, iat: request.iat,
                exp: request.exp, isPresentable: isPresentable, state: state))
    }

    private func isTakenBack(_ jti: Int, at now: Int64) -> Bool { takenBack[jti].map { $0 > now } ?? false }

    private mutating func take(_ cancellation: PlannedCancellation, at now: Int64) {
        guard cancellation.exp > now, seen[cancellation.jti] == nil else { return }
        seen[cancellation.jti] = .cancellation(cancellation)
        takenBack[cancellation.cancels] = max(takenBack[cancellation.cancels] ?? .min, cancellation.exp)
        guard let row = rows.firstIndex(where: { $0.jti == cancellation.cancels && $0.isLive(at: now) }) else { return }
        rows[row].state = .cancelled
    }

    /// The request that was seen under a jti.
    func request(_ jti: Int) -> PlannedRequest? {
        if case .request(let request)? = seen[jti] { request } else { nil }
    }

    // MARK: Deciding

    /// The request that a decision on this jti would decide now.
    func decidable(_ jti: Int, at now: Int64) -> Int? {
        isSuspended ? nil : rows.firstIndex { $0.jti == jti && $0.isLive(at: now) }
    }

    mutating func decide(_ row: Int, _ answer: Answer) {
        rows[row].state = answer == .approve ? .approved : .denied
        queue(answer, row: row)
    }

    private mutating func queue(_ answer: Answer, row: Int) {
        rows[row].delivery = .queued
        outbox.append(Entry(jti: rows[row].jti, answer: answer, exp: rows[row].exp, row: row))
    }

    /// What is undecided is cancelled, and what was decided and not answered yet is never sent.
    mutating func end() {
        for entry in outbox { settle(entry.jti, as: .failed) }
        for row in rows.indices where rows[row].state == .pending { rows[row].state = .cancelled }
        (isOver, isSuspended) = (true, false)
    }

    mutating func expire(at now: Int64) {
        for row in rows.indices where rows[row].state == .pending && rows[row].exp <= now {
            rows[row].state = .expired
        }
    }

    // MARK: Delivering

    func head(_ queue: Queue) -> Entry? { outbox.first { $0.queue == queue } }

    /// The issuer answered, or one of the codes that end the repeating came: it is never sent again.
    mutating func settle(_ jti: Int, as end: Delivery) {
        guard let index = outbox.firstIndex(where: { $0.jti == jti }) else { return }
        if let row = outbox[index].row { rows[row].delivery = end }
        outbox.remove(at: index)
    }

    mutating func giveUpExpired(at now: Int64) {
        for queue in Queue.allCases {
            while let head = head(queue), head.exp <= now { settle(head.jti, as: .failed) }
        }
    }
}
