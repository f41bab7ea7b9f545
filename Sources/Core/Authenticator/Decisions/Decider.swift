import IssuerProtocol
import Journal
import Keys
import Records
import Signing
import StoreTables
import TextAndTime
import ThreeDS
import WebAuthn

/// The decider of requests, which decides each once, and reports a decision only when it is durable.
struct Decider: Sendable {
    let ports: DecisionPorts
    let queues: SignatureQueues
    let signCounts: any AcceptedSignCounts
    /// The zone in which times are shown.
    let localTime: LocalTime

    /// Approves or denies one request that is pending.
    ///
    /// - Parameters:
    ///   - pin: the PIN, for an approval that takes one. A denial never takes one.
    ///   - wanted: the caller's deadline and connection. Once one of them has ended, the request is not decided. This
    ///     is checked before the key is opened, and again in the database transaction that decides.
    /// - Returns: the request and its enrollment as stored, once the decision is durable.
    /// - Throws: `CommandError`, or an error of the store or the custody, if the request was not decided.
    func decide(
        _ decision: RequestLife.Decision, on id: RequestID, expecting expectations: Expectations,
        by approver: Approver, pin: PIN?, while wanted: DecisionLimit
    ) async throws -> DecidedRequest {
        let terms = Terms(expectations: expectations, approver: approver, pin: pin, limit: wanted)
        do {
            let decided =
                switch decision {
                case .deny(let reason): try await deny(id, because: reason, on: terms)
                case .approve: try await approve(id, on: terms)
                }
            guard ports.lateDecisions.contains(id) else { return decided }
            try await endLate(decided)
            throw CommandError(
                .notInTime, "the decision is not sent: it was on disk only after its deadline", request: decided.request
            )
        } catch let error where error is CancellationError || error is NotWantedError {
            // A part that was cancelled does not know the reason. `wanted` does.
            try wanted.expectOpen()
            throw error
        }
    }

    /// The conditions of a decision.
    struct Terms: Sendable {
        /// The caller's expectations of the request.
        let expectations: Expectations
        /// The person or program that decides.
        let approver: Approver
        /// The PIN, for an approval that takes one.
        let pin: PIN?
        /// The caller's deadline and connection.
        let limit: DecisionLimit
        #if Personas
        /// The substitute for the honest assertion.
        var answer: (any TestAnswer)?
        #endif

        /// Runs a part of the work, which is cancelled once it is not wanted, unless it is short.
        func perform<T: Sendable>(
            isShort: Bool, _ work: @escaping @Sendable () async throws -> T
        ) async throws -> T {
            guard isShort else { return try await limit.perform(work) }
            try limit.expectOpen()
            return try await work()
        }
    }

    private func deny(_ id: RequestID, because reason: DenyReason, on terms: Terms) async throws -> DecidedRequest {
        return try await ports.store.write { store in
            let found = try decidable(id, expecting: terms.expectations, in: store)
            let now = ports.clock.now
            var request = found.request
            try terms.limit.expectOpen(request)
            let text = request.text(for: found.enrollment, localTime)
            guard request.life.decide(.deny(reason)) == .queueDenial(reason) else { throw request.tooLate }
            try store.record(.decided(.deny(reason), on: request, by: terms.approver, text: try text?.digest), at: now)
            let body = DecisionBody.deny(reason)
            try commit(&request, text, body: body, signCount: nil, now: now, wanted: terms.limit, in: store)
            return DecidedRequest(request: request, enrollment: found.enrollment, text: text)
        }
    }

    func approve(_ id: RequestID, on terms: Terms) async throws -> DecidedRequest {
        let wanted = terms.limit
        let owner = try await owner(of: id)
        // The queue admits one approval of a credential at a time, so no signCount is assigned twice.
        if !queues.tryEnter(owner) { try await wanted.perform { [queues] in try await queues.enter(owner) } }
        defer { queues.leave(owner) }
        // An earlier approval in the queue may have decided the request: then no key is opened and no PIN tried for it.
        var found = try await look(at: id, on: terms)
        if ports.headStanding.areRowsDue {
            try await wanted.perform { [ports] in try await ports.headStanding.untilRowsAreRead(on: ports.patience) }
            // Meanwhile the request or the enrollment may have ended.
            found = try await look(at: id, on: terms)
        }
        try ports.headStanding.expectApprovals(of: found.request)
        // A restored copy of the state must first raise its signCount to the issuer's, so that its next one is greater.
        let isUnknown = ports.headStanding.isRestored && !signCounts.isKnown(owner)
        let mustKnow = found.enrollment.refusedSignCount != nil || isUnknown
        let inquiry =
            mustKnow || signCounts.isDue(owner)
            ? try await wanted.perform { [signCounts] in
                await signCounts.ensureChecked(owner, mustKnow: mustKnow)
            } : .notDue
        // During the call the signCount may have been raised, and the request or the enrollment may have ended.
        if inquiry != .notDue { found = try await look(at: id, on: terms) }
        try Self.expectKnownSignCount(
            of: found.enrollment, for: found.request, inquiry.trouble,
            isAsked: !ports.headStanding.isRestored || signCounts.isKnown(owner))
        return try await opened(found, on: terms) { key in
            var current = found
            while true {
                switch try await approveOnce(current, on: terms, with: key, of: found.enrollment) {
                case .committed(let decided): return decided
                case .overtaken(let newer): current = newer
                }
            }
        }
    }

    /// Returns the enrollment of a request; all else is read in its queue.
    private func owner(of id: RequestID) async throws -> EnrollmentID {
        guard let owner = try await ports.store.read({ try $0.owner(of: id) }) else { throw Self.missing(id) }
        return owner
    }

    /// Reads the request and the enrollment before the database transaction that decides.
    ///
    /// It is the only read of the enrollment before that transaction, whose writes expect the values found here.
    private func look(at id: RequestID, on terms: Terms) async throws -> Decidable {
        try await ports.store.read { store in
            let found = try decidable(id, expecting: terms.expectations, in: store)
            try terms.limit.expectOpen(found.request)
            return found
        }
    }

    private enum Attempt: Sendable {
        case committed(DecidedRequest)
        /// Another signature is needed.
        ///
        /// A newer message replaced this one while the key signed, or the signCount was found to be too low.
        case overtaken(Decidable)
    }

    /// Assigns a signCount, signs outside a database transaction, reads again, and commits.
    ///
    /// - Parameter opened: the enrollment with the key that was opened.
    private func approveOnce(
        _ found: Decidable, on terms: Terms, with key: any UnlockedKey, of opened: Enrollment
    ) async throws -> Attempt {
        let (request, enrollment) = (found.request, found.enrollment)
        guard enrollment.signCount < .max else {
            throw CommandError(
                .notEnrolled, "the enrollment \(enrollment.id) has used its last signCount", request: request)
        }
        let signCount = enrollment.signCount + 1
        let body = try await terms.perform(isShort: key.signsAtOnce) {
            try await assertion(for: request, of: enrollment, signCount: signCount, with: key, on: terms)
        }
        // While the key was opened and signed, a cancellation, the expiry, a newer message or the enrollment's end may
        // have come. The signCount may have been raised or refused, the key and the PIN changed, and the caller may
        // have disconnected. Read again before any write.
        return try await ports.store.write { store in
            let newest = try decidable(request.id, expecting: terms.expectations, in: store)
            let now = ports.clock.now
            var current = newest.request
            try terms.limit.expectOpen(current)
            try newest.enrollment.expectKey(of: opened, in: ports.custody, for: current)
            try Self.expectKnownSignCount(of: newest.enrollment, for: current)
            guard current.jti == request.jti, try store.change(enrollment.id, .signCountTaken(signCount)) != nil else {
                return .overtaken(newest)
            }
            let text = current.text(for: newest.enrollment, localTime)
            guard current.life.signed() else { throw current.tooLate }
            let digest = try text?.digest
            let signed = (signCount: signCount, isUserVerified: key.verifiesUser)
            try store.record(.decided(.approve, on: current, by: terms.approver, text: digest, signed: signed), at: now)
            try commit(
                &current, text, body: body, signCount: signCount, now: now, wanted: terms.limit, in: store)
            return .committed(DecidedRequest(request: current, enrollment: newest.enrollment, text: text))
        }
    }

    private func assertion(
        for request: RequestRecord, of enrollment: Enrollment, signCount: UInt32, with key: any UnlockedKey,
        on terms: Terms
    ) async throws -> [UInt8] {
        #if Personas
        if let answer = terms.answer {
            return try await body(answer, for: request, of: enrollment, signCount: signCount, with: key)
        }
        #endif
        let check = UserCheck.explicitApproval(by: enrollment.authnType, with: key)
        guard let confirmed = ConfirmedTransaction(request, of: enrollment, check: check, signCount: signCount) else {
            throw request.tooLate
        }
        let unsigned = try confirmed.unsignedAssertion()
        do {
            return DecisionBody.approve(unsigned.signed(try await key.signature(for: try unsigned.permit())))
        } catch let failure as CustodyError {
            throw CommandError(failure, request: request)
        }
    }

    /// Throws if a refused or restored signCount is not yet settled with the issuer.
    ///
    /// After a refused assertion or a restore, the agent signs only if the issuer has reported which signCount it
    /// accepted.
    ///
    /// - Parameters:
    ///   - reason: the reason why the issuer could not be asked just now.
    ///   - isAsked: whether the issuer has reported it since the start, or need not.
    private static func expectKnownSignCount(
        of enrollment: Enrollment, for request: RequestRecord, _ reason: String? = nil, isAsked: Bool = true
    ) throws {
        guard enrollment.refusedSignCount != nil || !isAsked else { return }
        throw CommandError(
            .issuerUnreachable,
            "nothing was decided: after a refused assertion or a restore, the issuer must first say which signCount "
                + "it accepted: \(reason ?? "it has just refused another assertion"); ask again", request: request)
    }

    /// Writes the decision, and stops its delivery if the commit is known only after the deadline.
    ///
    /// The disk or the database may have stalled since the deadline was last checked.
    private func commit(
        _ request: inout RequestRecord, _ text: TransactionText?, body: [UInt8], signCount: UInt32?, now: Int64,
        wanted: DecisionLimit, in store: StoreTransaction
    ) throws {
        let (id, exp) = (request.id, request.exp ?? .max)
        store.afterCommit { [late = ports.lateDecisions] in if wanted.isPast { late.insert(id, at: now, until: exp) } }
        request.decidedAt = now
        request.queuePlace = signCount.map(Int64.init)
        try store.updateLife(of: request)
        try store.keep(KeptEvidence(text: text?.text, decision: body), of: request.id)
    }
}
