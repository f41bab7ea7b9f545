import IssuerProtocol
import Keys
import ThreeDS
import WebAuthn

/// Decides requests: once each, durable before anyone is told.
struct Decider: Sendable {
    let ports: Ports
    let queues: SignatureQueues
    let signCountWatch: SignCountWatch
    /// The zone in which times are shown.
    let localTime: LocalTime

    /// Approves or denies one request that is pending.
    ///
    /// - Parameters:
    ///   - pin: for an approval that takes one; a deny never does.
    ///   - wanted: once it is over nothing is decided; it is looked at before the key is opened, and again in the
    ///     database transaction that decides.
    /// - Returns: the request as the store has it once the decision is durable.
    /// - Throws: `CommandFailure` if nothing was decided; what the store or the custody throws, likewise.
    func decide(
        _ decision: RequestLife.Decision, on id: RequestID, expecting expectations: Expectations, by approver: Approver,
        pin: PIN?, while wanted: Wanted
    ) async throws -> RequestRecord {
        let terms = Terms(expectations: expectations, approver: approver, pin: pin, wanted: wanted)
        do {
            return switch decision {
            case .deny(let reason): try await deny(id, because: reason, on: terms)
            case .approve: try await approve(id, on: terms)
            }
        } catch let error where error is CancellationError || error is GivenUp {
            // What was cut off says only that; why, is known here.
            try wanted.check()
            throw error
        }
    }

    /// On which terms something is decided.
    struct Terms: Sendable {
        /// What must hold of the request.
        let expectations: Expectations
        /// Who decides.
        let approver: Approver
        /// For an approval that takes one.
        let pin: PIN?
        /// Until when, and as long as who asked is there.
        let wanted: Wanted
    }

    private func deny(_ id: RequestID, because reason: DenyReason, on terms: Terms) async throws -> RequestRecord {
        let now = ports.clock.now
        return try await ports.store.write { store in
            var (request, enrollment) = try decidable(id, expecting: terms.expectations, now: now, in: store)
            try terms.wanted.check(request)
            let text = request.text(for: enrollment, localTime)
            guard request.life.decide(.deny(reason)) == .queueDenial(reason) else { throw request.tooLate }
            try store.record(.decided(.deny(reason), on: request, by: terms.approver, text: try text?.digest), at: now)
            let body = DecisionBody.deny(reason)
            try Self.commit(&request, text, body: body, signCount: nil, now: now, in: store)
            return request
        }
    }

    private func approve(_ id: RequestID, on terms: Terms) async throws -> RequestRecord {
        let wanted = terms.wanted
        let now = ports.clock.now
        let enrollment = try await ports.store.read { store in
            try decidable(id, expecting: terms.expectations, now: now, in: store).1
        }
        // In its queue an approval is alone with its credential, so the number it takes cannot be taken twice.
        try await wanted.run { [queues] in try await queues.enter(enrollment.id) }
        defer { queues.leave(enrollment.id) }
        // An old copy of the state goes above the issuer's signCount before it signs again.
        let unknown = try await wanted.run { [signCountWatch] in await signCountWatch.ensureChecked(enrollment.id) }
        // Who was in the queue before may have decided it: then no key is opened and no PIN tried for it.
        let inTurn = ports.clock.now
        let first = try await ports.store.read { store in
            let (request, enrollment) = try decidable(id, expecting: terms.expectations, now: inTurn, in: store)
            try wanted.check(request)
            try Self.expectKnownSignCount(of: enrollment, for: request, unknown)
            return request
        }
        return try await opened(first, of: enrollment, on: terms) { key in
            var request = first
            while true {
                switch try await approveOnce(request, on: terms, with: key) {
                case .committed(let record): return record
                case .overtaken(let newer): request = newer
                }
            }
        }
    }

    private enum Attempt: Sendable {
        case committed(RequestRecord)
        /// Another signature is needed.
        ///
        /// A newer message took over while the key was at work, or the number was found to be too low.
        case overtaken(RequestRecord)
    }

    /// Takes a number, signs without holding the database, looks again, commits.
    private func approveOnce(
        _ request: RequestRecord, on terms: Terms, with key: any UnlockedKey
    ) async throws -> Attempt {
        let id = request.enrollmentId
        guard let enrollment = try await ports.store.read({ try $0.enrollment(id) }), enrollment.signCount < .max else {
            throw CommandFailure(.notEnrolled, "the enrollment \(id) has ended", request: request)
        }
        try enrollment.expectWhole(for: request)
        let signCount = enrollment.signCount + 1
        let body = try await terms.wanted.run {
            try await assertion(for: request, of: enrollment, signCount: signCount, with: key)
        }
        // The await above let a cancellation, the expiry or a newer message run, and whoever asked may be gone; look
        // again before anything is kept.
        let now = ports.clock.now
        return try await ports.store.write { store in
            var (current, enrollment) = try decidable(request.id, expecting: terms.expectations, now: now, in: store)
            try terms.wanted.check(current)
            try Self.expectKnownSignCount(of: enrollment, for: current)
            guard current.jti == request.jti, try store.change(id, .signCountTaken(signCount)) != nil else {
                return .overtaken(current)
            }
            let text = current.text(for: enrollment, localTime)
            guard current.life.signed() else { throw current.tooLate }
            let digest = try text?.digest
            try store.record(.decided(.approve, on: current, by: terms.approver, text: digest, key: key), at: now)
            try store.record(.signed(current, signCount: signCount), at: now)
            try Self.commit(&current, text, body: body, signCount: signCount, now: now, in: store)
            return .committed(current)
        }
    }

    private func assertion(
        for request: RequestRecord, of enrollment: Enrollment, signCount: UInt32, with key: any UnlockedKey
    ) async throws -> [UInt8] {
        let check = UserCheck.explicitApproval(by: enrollment.authnType, with: key)
        guard let confirmed = ConfirmedTransaction(request, of: enrollment, check: check, signCount: signCount) else {
            throw request.tooLate
        }
        let unsigned = try confirmed.unsignedAssertion()
        do {
            return DecisionBody.approve(unsigned.signed(try await key.signature(for: try unsigned.permit())))
        } catch let failure as KeyFailure {
            throw CommandFailure(failure, request: request)
        }
    }

    /// Throws if a refused or restored signCount is not yet settled with the issuer.
    ///
    /// After a refused assertion or a restore, a number is signed only if the issuer has said which one it accepted.
    ///
    /// - Parameter reason: why the issuer could not be asked just now.
    private static func expectKnownSignCount(
        of enrollment: Enrollment, for request: RequestRecord, _ reason: String? = nil
    ) throws {
        guard enrollment.refusedSignCount != nil else { return }
        throw CommandFailure(
            .issuerUnreachable,
            "nothing was decided: after a refused assertion or a restore, the issuer must first say which signCount "
                + "it accepted: \(reason ?? "it has just refused another assertion"); ask again", request: request)
    }

    /// A request that can be decided now and of which all expectations hold.
    private func decidable(
        _ id: RequestID, expecting expectations: Expectations, now: Int64, in store: any StoreReader
    ) throws -> (RequestRecord, Enrollment) {
        guard let request = try store.request(id) else { throw CommandFailure(.notFound, "there is no request \(id)") }
        guard request.life.state == .pending else { throw request.tooLate }
        guard let exp = request.exp, exp > now else {
            throw CommandFailure(.noLongerDecidable, "the request \(id) has expired", request: request)
        }
        if let broken = expectations.firstBroken(by: request) {
            throw CommandFailure(.expectationFailed, "nothing was decided: \(broken)", request: request)
        }
        guard let enrollment = try store.enrollment(request.enrollmentId), case .active = enrollment.state else {
            throw CommandFailure(
                .notEnrolled, "the enrollment \(request.enrollmentId) is not active: its issuer no longer knows it",
                request: request)
        }
        try enrollment.expectWhole(for: request)
        if let digest = expectations.textDigest, try digest != request.text(for: enrollment, localTime)?.digest {
            throw CommandFailure(
                .expectationFailed, "nothing was decided: the request has changed since it was shown", request: request)
        }
        return (request, enrollment)
    }

    private static func commit(
        _ request: inout RequestRecord, _ text: TransactionText?, body: [UInt8], signCount: UInt32?, now: Int64,
        in store: any StoreWriter
    ) throws {
        request.decidedAt = now
        try store.update(request)
        try store.keep(KeptEvidence(text: text?.text, decision: body), of: request.id)
        try store.insert(
            OutboxEntry(
                sequence: nil, enrollmentId: request.enrollmentId, jti: request.jti, requestId: request.id,
                signCount: signCount, body: body, exp: request.exp ?? now,
                traceparent: request.presented?.traceparent))
    }
}

extension RequestRecord {
    /// The failure that says what became of a request that can no longer be decided.
    var tooLate: CommandFailure {
        let what =
            switch life.state {
            case .pending: "changed meanwhile"
            case .approved: "was approved already"
            case .denied: "was denied already"
            case .expired: "has expired"
            case .cancelled: "was cancelled by its issuer"
            case .refused: "was refused by the agent"
            }
        return CommandFailure(.noLongerDecidable, "the request \(id) \(what)", request: self)
    }
}
