import IssuerProtocol
import Journal
import Logging
import Records
import StoreTables
import TextAndTime

/// Intake of an issuer's messages: verifies them, then stores, defers or drops each.
struct Intake: Sendable {
    let ports: Ports
    let settings: AgentSettings
    let directory: IssuerDirectory
    let deferred: DeferredMessages
    let hub: EventHub
    let tally: PushTally
    let drops: MessageDrops
    let health: IssuerHealth
    let refusedPeers: LogQuota
    let log: Logger

    /// Stores, defers or drops each message.
    ///
    /// Returns after that, so the cursor may move. The messages of an enrollment that has ended, or that the issuer has
    /// not accepted yet, are ignored.
    ///
    /// - Parameters:
    ///   - channel: the channel of arrival. `nil` for messages that were deferred.
    ///   - heldUntil: for deferred messages only: the deadline, on the steady clock.
    ///   - isListed: whether the issuer listed them. Anyone can send a push.
    /// - Returns: whether the store has news. A message that is older than its known request is stored too, but is no
    ///   news.
    /// - Throws: the store's errors, `IssuerError` if the issuer's keys cannot be fetched, or `CommandError` for a
    ///   damaged row. Then no message of the answer was stored, deferred or dropped (but see ``StoreError/isInDoubt``).
    @discardableResult
    func receive(
        _ messages: [String], for enrollment: Enrollment, by channel: ArrivalChannel? = nil, heldUntil: Double? = nil,
        isListed: Bool = true
    ) async throws -> Bool {
        // Throw, so that the cursor stays: after a repair, the issuer lists the requests again.
        try enrollment.expectWhole()
        guard let facts = EnrollmentFacts(enrollment, settings.exponentPolicy), !messages.isEmpty else { return false }
        let keys = try await knownKeys(of: enrollment)
        var verdicts = messages.map { judge($0, by: facts, keys: keys) }
        if verdicts.contains(where: { $0.hasUnknownKey }), let newer = await newerKeys(of: enrollment) {
            verdicts = messages.map { judge($0, by: facts, keys: newer) }
        }
        for iat in verdicts.compactMap(\.signedTime) { ports.provenTime.record(iat: iat, by: enrollment.target.issuer) }
        return try await admitAll(
            zip(messages, verdicts).map {
                Item(message: $0, verdict: $1, channel: channel, heldUntil: heldUntil, isListed: isListed)
            },
            for: enrollment)
    }

    private struct Item: Sendable {
        let message: String
        let verdict: MessageVerdict
        let channel: ArrivalChannel?
        let heldUntil: Double?
        let isListed: Bool
    }

    private func judge(_ message: String, by facts: EnrollmentFacts, keys: JWKSet) -> MessageVerdict {
        guard message.utf8.count <= settings.bounds.messageBytes else { return .unanswerable(.tooLarge) }
        return AuthnRequestReader.read(message, for: facts, keys: keys, now: ports.clock.now)
    }

    private func knownKeys(of enrollment: Enrollment) async throws -> JWKSet {
        try await directory.keys(enrollment.target)
    }

    private func newerKeys(of enrollment: Enrollment) async -> JWKSet? {
        do {
            return try await directory.keysForUnknown(enrollment.target)
        } catch {
            log.warning("keys could not be fetched", metadata: enrollment.logged(["reason": "\(error.reason)"]))
            return nil
        }
    }

    private func admitAll(_ items: [Item], for enrollment: Enrollment) async throws -> Bool {
        let ids = try items.map { _ in try RequestID(random: ports.entropy) }
        let settings = settings
        let outcomes = try await ports.store.write { store -> [RequestAdmission.Outcome?] in
            try ports.storeHealth.expectRoom()
            // The enrollment may have ended meanwhile.
            guard let current = try store.enrollment(enrollment.id), !current.isOver else { return [] }
            try current.expectWhole()
            let (now, time) = (ports.clock.now, ports.provenTime)
            return try zip(items, ids).map { item, id in
                let admission = RequestAdmission(
                    enrollment: enrollment, now: now, receivedAt: time.stamp(now), provenNow: time.now,
                    bounds: settings.bounds, newId: id, localTime: settings.localTime)
                return try Self.admit(item, by: admission, in: store)
            }
        }
        for (item, outcome) in zip(items, outcomes) { conclude(item, outcome, of: enrollment) }
        return outcomes.contains { $0?.isNews == true }
    }

    private static func admit(
        _ item: Item, by admission: RequestAdmission, in store: StoreTransaction
    ) throws -> RequestAdmission.Outcome? {
        switch item.verdict {
        case .request(let request): try admission.admit(request, message: item.message, in: store)
        case .cancellation(let cancellation): try admission.takeBack(by: cancellation, in: store)
        case .notAuthentic, .unknownKey, .unanswerable: nil
        }
    }

    /// Logs presented and refused requests, and defers or drops a message that was not stored.
    ///
    /// A known message is only counted. All of this comes after the commit.
    private func conclude(_ item: Item, _ outcome: RequestAdmission.Outcome?, of enrollment: Enrollment) {
        noteHealth(outcome, of: enrollment)
        switch (outcome, item.verdict) {
        case (.presented?, _), (.refused?, _), (.entered?, _):
            noteNew(item, enrollment)
            noteLate(item, enrollment)
            if let outcome { logNews(outcome, from: item, of: enrollment) }
        case (.known?, _):
            if item.channel != nil { tally.noteAgain(enrollment.id) }
        case (.reusedJTI?, _):
            drop(
                .reusedID, "a jti arrived again with other bytes", of: enrollment, with: ["jti": item.verdict.loggedJTI]
            )
        case (.overQuota?, _):
            drop(.overQuota, "too many messages for one enrollment; one was dropped", of: enrollment)
        case (.noRoom?, _):
            drop(.noRoom, "no more may be stored for this issuer or enrollment; a message was dropped", of: enrollment)
        case (.early(let seconds)?, _):
            // Clocks differ: the message is read again when its `iat` is within the tolerance.
            deferMessage(item, for: seconds.later(by: -AuthnRequestReader.clockTolerance), enrollment)
        case (.tooEarly(let seconds)?, _):
            drop(
                .future, "a request is from the future; check this machine's clock", of: enrollment,
                with: ["seconds-ahead": "\(seconds)"])
        case (nil, .unknownKey(let kid, let reason)):
            noteFault(reason, item, enrollment)
            noteUnknownKey(kid, reason, enrollment)
            deferMessage(item, for: IssuerDirectory.unknownKeyPause, enrollment, because: reason)
        case (nil, .notAuthentic(let error)):
            noteFault(error.sentence, item, enrollment)
            drop(
                .notAuthentic, "a request is not authentic", of: enrollment,
                with: ["reason": "\(error)", "because": "\(error.sentence)"])
        case (nil, .unanswerable(let error)):
            noteFault(error.sentence, item, enrollment)
            drop(
                .unanswerable, "a request cannot be answered", of: enrollment,
                with: ["reason": "\(error)", "because": "\(error.sentence)"])
        case (nil, .request), (nil, .cancellation):
            break
        }
    }

    private func noteHealth(_ outcome: RequestAdmission.Outcome?, of enrollment: Enrollment) {
        guard let outcome else { return }
        let now = ports.clock.now
        health.record(enrollment.id, unverified: nil, at: now)
        switch outcome {
        case .presented: health.record(enrollment.id, isFull: false, at: now)
        case .noRoom, .refused(.tooManyBytes): health.record(enrollment.id, isFull: true, at: now)
        default: break
        }
    }

    private func logNews(_ outcome: RequestAdmission.Outcome, from item: Item, of enrollment: Enrollment) {
        let jti: Logger.Metadata = ["jti": item.verdict.loggedJTI]
        switch outcome {
        case .presented(let id):
            log.info(
                "request presented", metadata: enrollment.logged(jti.merging(["request": "\(id)"]) { old, _ in old }))
        case .refused(let own):
            let refusal = own.map { "\($0): \($0.sentence)" } ?? item.verdict.refusal.map { "\($0)" } ?? ""
            log.notice(
                "request refused", metadata: enrollment.logged(jti.merging(["refusal": "\(refusal)"]) { old, _ in old })
            )
            guard own == .conflict else { return }
            log.warning("another transaction arrived under a known acsTransId", metadata: enrollment.logged(jti))
        default: break
        }
    }

    private func noteNew(_ item: Item, _ enrollment: Enrollment) {
        guard let channel = item.channel, case .request(let request) = item.verdict,
            tally.noteNew(enrollment.id, by: channel, iat: request.iat, at: ports.clock.now)
        else { return }
        log.warning(
            "a request arrived by poll without a push: polls are frequent again", metadata: enrollment.logged())
    }

    /// Logs an expired request that came by poll.
    ///
    /// Issuers do not list expired requests, so the issuer's clock and this one differ.
    private func noteLate(_ item: Item, _ enrollment: Enrollment) {
        guard item.channel == .poll, case .request(let request) = item.verdict, let exp = request.exp,
            exp <= ports.clock.now,
            let metadata = limitedMetadata(
                about: "late", of: enrollment.id, at: enrollment.target.issuer, with: ["exp": "\(exp)"])
        else { return }
        log.warning("a request arrived already expired; check this machine's clock", metadata: metadata)
    }

    /// Logs a message under an unknown kid.
    ///
    /// The quota applies, since anyone can send such a message.
    private func noteUnknownKey(_ kid: String, _ reason: String, _ enrollment: Enrollment) {
        guard
            let metadata = limitedMetadata(
                about: "kid", of: enrollment.id, at: enrollment.target.issuer,
                with: ["kid": "\(EscapedText.of(kid).debugDescription)", "because": "\(reason)"])
        else { return }
        log.notice("a request waits for an unknown key", metadata: metadata)
    }

    /// Reports the fault of a message that the issuer itself listed.
    ///
    /// A fault of a pushed message does not count: anyone can push.
    private func noteFault(_ sentence: String, _ item: Item, _ enrollment: Enrollment) {
        guard item.isListed else { return }
        health.record(enrollment.id, unverified: sentence, at: ports.clock.now)
    }

    private func deferMessage(
        _ item: Item, for seconds: Int64, _ enrollment: Enrollment, because reason: String? = nil
    ) {
        let held = DeferredMessages.Held(
            item.message, for: enrollment.id, of: enrollment.target, isListed: item.isListed, readAgainIn: seconds,
            dropAt: item.heldUntil, by: ports.clock)
        guard held.isReadAgain, deferred.add(held) else {
            let why = reason.map { ["because": "\($0)"] as Logger.Metadata } ?? [:]
            drop(.notHeld, "a request that could not be verified was dropped", of: enrollment, with: why)
            return
        }
        hub.publish(.messageHeld(enrollment.target))
    }

    /// Drops a deferred message that is out of time or has no room.
    func giveUp(_ held: DeferredMessages.Held) {
        drop(
            .notHeld, "a request that could not be verified was dropped", of: held.enrollmentId,
            at: held.issuer.issuer,
            with: ["because": "the issuer's keys, or this agent's database, could not be read in time"])
    }

    /// Counts and logs one drop for results of a batch fetch that no enrollment of the call asked for.
    ///
    /// Call it once per answer, with the first such authenticator.
    func dropNotAsked(_ first: TokenID, at issuer: IssuerURL) {
        drop(
            .notAsked, "a batch fetch was answered for an authenticator that was not asked for", of: nil, at: issuer,
            with: ["authenticator": "\(first.text)"])
    }

    private func drop(
        _ drop: MessageDrop, _ sentence: Logger.Message, of enrollment: Enrollment,
        with metadata: Logger.Metadata = [:]
    ) {
        self.drop(drop, sentence, of: enrollment.id, at: enrollment.target.issuer, with: metadata)
    }

    private func drop(
        _ drop: MessageDrop, _ sentence: Logger.Message, of id: EnrollmentID?, at issuer: IssuerURL,
        with metadata: Logger.Metadata
    ) {
        drops.count(drop)
        // Each reason is a topic, and reasons are few, so each kind of fault gets its own line.
        let topic = "\(drop) \(metadata["reason"].map { "\($0)" } ?? "")"
        guard let metadata = limitedMetadata(about: topic, of: id, at: issuer, with: metadata) else { return }
        log.warning(sentence, metadata: metadata)
    }

    /// Returns the metadata of a log line, or `nil` if the quota refuses the line.
    ///
    /// The quota is one line per enrollment, topic and pause, and a limited number per issuer. So an issuer cannot fill
    /// the log, however many enrollments it has. The topics are the agent's own words.
    private func limitedMetadata(
        about topic: String, of id: EnrollmentID?, at issuer: IssuerURL, with metadata: Logger.Metadata
    ) -> Logger.Metadata? {
        guard
            let leftOut = refusedPeers.admit(
                id?.text ?? issuer.text, at: issuer.text, about: topic, now: ports.clock.now)
        else {
            return nil
        }
        var metadata = metadata
        metadata["enrollment"] = id.map { "\($0)" }
        metadata["issuer"] = "\(issuer.text)"
        if leftOut > 0 { metadata["left-out"] = "\(leftOut)" }
        return metadata
    }
}

extension MessageVerdict {
    /// The `iat` of a message that the issuer has signed.
    ///
    /// `nil` if there is none.
    fileprivate var signedTime: Int64? {
        switch self {
        case .request(let request): request.iat
        case .cancellation(let cancellation): cancellation.iat
        case .notAuthentic, .unknownKey, .unanswerable: nil
        }
    }

    fileprivate var hasUnknownKey: Bool {
        if case .unknownKey = self { true } else { false }
    }

    fileprivate var refusal: RequestRefusal? {
        if case .request(let request) = self, case .refused(let refusal) = request.whileValid { refusal } else { nil }
    }

    fileprivate var loggedJTI: Logger.MetadataValue {
        if case .request(let request) = self { "\(request.jti.text)" } else { "" }
    }
}
