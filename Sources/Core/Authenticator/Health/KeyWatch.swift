import IssuerProtocol
import Journal
import Keys
import Logging
import Records
import Signing
import StoreTables

/// Tests keys in the background: what cannot be used is known before it is needed.
///
/// No PIN is asked for. A key with a PIN of the agent's own is looked at as far as that goes; one of a token or a TPM is
/// not, if it could cost a try.
struct KeyWatch: Sendable {
    let ports: Ports
    let health: KeyHealth
    let hub: EventHub
    let log: Logger
    /// However many keys fail, they cannot fill the log.
    let quota: LogQuota

    /// How many keys are looked at before a start goes on, if one of them can be used.
    var enough = 100

    /// The seconds between two looks at all keys.
    static let pause: Double = 86_400
    /// The seconds between two looks at those that cannot be used.
    static let pauseAfterFailure: Double = 60
    /// The seconds after which a start no longer waits for the keys that the agent did not make.
    static let outsidePatience: Int64 = 60

    /// Works until the task is cancelled: tests all keys at once and once a day, failed ones once a minute.
    ///
    /// - Parameter onStep: called after each key of the first look, in it once so many were looked at that the start
    ///   goes on, and with how the keys are after each round.
    func run(onStep: @escaping @Sendable (StartStep) -> Void) async throws {
        var (failed, last): (Set<EnrollmentID>, Int64?) = ([], nil)
        while !Task.isCancelled {
            if secondsUntilAll(after: last) == 0 {
                last = ports.clock.now
                try await testAll(failed: &failed, onStep: onStep)
            } else {
                for name in health.failing { try await testKey(named: name, failed: &failed) }
            }
            try await conclude(areAllSeen: true, onStep)
            let notifier = notifier()
            let pause = secondsUntilAll(after: last)
            try await ports.clock.sleep(
                seconds: health.failing.isEmpty ? pause : min(pause, Self.pauseAfterFailure), orUntil: notifier)
        }
    }

    /// Rings once a key has failed, and if keys may have come or gone.
    private func notifier() -> EventNotifier {
        // Keys that are known to fail are looked at when their pause is over.
        let isNews = health.failing.isEmpty
        return hub.notifier { event in
            switch event {
            case .keyFailed, .journaled(.enrolled, _, _), .journaled(.unenrolled, _, _): true
            case .found(.failingKeys): isNews
            default: false
            }
        }
    }

    /// 0 if there was none yet, also if the clock was set back since.
    private func secondsUntilAll(after last: Int64?) -> Double {
        guard let last, ports.clock.now >= last else { return 0 }
        return max(Self.pause - Double(ports.clock.now - last), 0)
    }

    /// One after the other, the agent's own first: the others may take their time.
    private func testAll(failed: inout Set<EnrollmentID>, onStep: @Sendable (StartStep) -> Void) async throws {
        let (count, external) = try await ports.patiently {
            try await ports.store.read { (try $0.enrollmentCount(), try $0.enrollmentsOfExternalKeys()) }
        }
        var (seen, isOneUsable, isSaid) = (0, false, false)
        func look(at enrollment: Enrollment) async throws {
            try await testKey(of: enrollment, failed: &failed)
            seen += 1
            if seen == enough { ownKeysAreSeen() }
            // The start waits for those before.
            if seen >= enough { await Task.yield() }
            guard health.isFirstLookDue else { return }
            onStep(.lookedAtKeys(seen, of: max(count, seen)))
            isOneUsable = isOneUsable || health.test(of: enrollment.id).map { $0.problem == nil } == true
            guard isOneUsable, seen >= enough, !isSaid else { return }
            isSaid = true
            onStep(.keyUsable)
        }
        for try await page in EnrollmentPages(ports: ports) {
            for enrollment in page where enrollment.key == .own { try await look(at: enrollment) }
        }
        ownKeysAreSeen()
        let ownDone = ports.clock.now
        for enrollment in external {
            try await look(at: enrollment)
            guard health.isFirstLookDue, ports.clock.now - ownDone >= Self.outsidePatience else { continue }
            try await conclude(areAllSeen: false, onStep)
        }
    }

    private func ownKeysAreSeen() {
        guard health.areOwnKeysDue else { return }
        health.ownKeysAreSeen()
        hub.publish(.ownKeysSeen)
    }

    /// Returns once the first look has come so far that a start need not wait for it, and after ``outsidePatience`` at
    /// the latest: other work would take the processor from it.
    func untilOwnKeysAreSeen() async throws {
        let areSeen: @Sendable (AgentEvent) -> Bool = { if case .ownKeysSeen = $0 { true } else { false } }
        _ = try await hub.wait(seconds: Double(Self.outsidePatience), on: ports.patience, for: areSeen) {
            health.areOwnKeysDue ? nil : ()
        }
    }

    private func conclude(areAllSeen: Bool, _ onStep: @Sendable (StartStep) -> Void) async throws {
        let problem = try await problemOfAll(areAllSeen: areAllSeen)
        let wasFirst = health.isFirstLookDue
        health.firstLookIsOver()
        onStep(problem.map(StartStep.noKeyUsable) ?? .keyUsable)
        // Whoever was told that the agent is ready was told before that not all keys were looked at.
        if wasFirst { hub.publish(.firstLookOver) }
    }

    /// Why no key of any enrollment can be used; nil if one can, or none is needed.
    ///
    /// - Parameter areAllSeen: nothing is known against one without a look, which would take a PIN.
    private func problemOfAll(areAllSeen: Bool) async throws -> String? {
        guard !health.failing.isEmpty else { return nil }
        var first: String?
        for try await page in EnrollmentPages(ports: ports) {
            for enrollment in page where enrollment.membership != nil {
                guard let test = health.test(of: enrollment.id) else {
                    if areAllSeen { return nil }
                    continue
                }
                guard let problem = test.problem else { return nil }
                first = first ?? "enrollment \(enrollment.id): \(problem)"
            }
        }
        return first
    }

    private func testKey(named name: EnrollmentID, failed: inout Set<EnrollmentID>) async throws {
        let enrollment = try await ports.patiently { try await ports.store.read { try $0.enrollment(name) } }
        guard let enrollment else { return health.forget(name) }
        try await testKey(of: enrollment, failed: &failed)
    }

    private func testKey(of enrollment: Enrollment, failed: inout Set<EnrollmentID>) async throws {
        let name = enrollment.id
        defer { logChange(of: name, failed: &failed) }
        try await ports.patiently {
            guard enrollment.membership != nil else { return health.forget(name) }
            do {
                try await testKey(of: enrollment)
            } catch is CustodyError {
                // It has been noted. But since it was looked up, it may have ended, and its key with it.
                let now = try await ports.store.read { try $0.enrollment(name) }
                if now?.membership == nil { health.forget(name) }
            } catch let error where !(error is StoreError || error is CancellationError) {
                log.debug("a key could not be looked at", metadata: enrollment.logged(["reason": "\(error)"]))
            }
        }
    }

    private func testKey(of enrollment: Enrollment) async throws {
        let last = health.test(of: enrollment.id)
        switch (enrollment.key, enrollment.authnType) {
        case (.external, .pin): return
        case (.own, .pin):
            // What went wrong with a signature only a signature can put right.
            if last?.problem != nil, last?.extent == .signature { return }
            try await ports.custody.check(enrollment.keyReference)
        case (.own, _) where last?.problem == nil:
            try await ports.custody.check(enrollment.keyReference)
        default:
            _ = try await ports.custody.unlock(enrollment.keyReference, pin: nil)
        }
    }

    private func logChange(of name: EnrollmentID, failed: inout Set<EnrollmentID>) {
        guard let problem = health.test(of: name)?.problem else {
            if failed.remove(name) != nil {
                log.notice("a key can be used again", metadata: ["enrollment": "\(name)"])
            }
            return
        }
        guard failed.insert(name).inserted, let leftOut = quota.admit("keys", now: ports.clock.now) else { return }
        var metadata: Logger.Metadata = ["enrollment": "\(name)", "reason": "\(problem)"]
        if leftOut > 0 { metadata["left-out"] = "\(leftOut)" }
        log.error("a key cannot be used", metadata: metadata)
    }
}
