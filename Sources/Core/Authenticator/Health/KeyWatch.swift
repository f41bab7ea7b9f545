import IssuerProtocol
import Journal
import Keys
import Logging
import Records
import Signing
import StoreTables

/// Tests keys in the background, so that an unusable key is found before it is needed.
///
/// Tests ask for no PIN. An own key with a PIN is tested without the PIN, as far as possible. An external key with a
/// PIN is not tested, because the test could cost a PIN try.
struct KeyWatch: Sendable {
    let ports: Ports
    let health: KeyHealth
    let hub: EventHub
    let log: Logger
    /// Limits the log lines, however many keys fail.
    let quota: LogQuota

    /// The number of keys to test before other loops start.
    ///
    /// For the agent to be ready, one of the tested keys must be usable too.
    var enough = 100

    /// The seconds between two tests of all keys.
    static let pause: Double = 86_400
    /// The seconds between two tests of unusable keys.
    static let pauseAfterFailure: Double = 60
    /// The longest wait of a start for external keys, in seconds.
    ///
    /// It is checked only between two keys, so a slow token may add the time of one call.
    static let outsidePatience: Int64 = 60

    /// Tests all keys at once and once a day, and failed ones once a minute, until the task is cancelled.
    ///
    /// Failed keys are also tested again at once when a key fails, or when an enrollment comes or ends.
    ///
    /// - Parameter onStep: called with the progress of the first test of all keys, during that test once enough keys
    ///   are tested and one can be used, and after each round with whether a key can be used.
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

    /// Makes a notifier that rings when a key fails, and when an enrollment comes or ends.
    private func notifier() -> EventNotifier {
        // Keys that are known to fail are tested after their pause.
        let isNews = health.failing.isEmpty
        return hub.notifier { event in
            switch event {
            case .keyFailed, .journaled(.enrolled, _, _), .journaled(.unenrolled, _, _): true
            case .found(.failingKeys): isNews
            default: false
            }
        }
    }

    /// Returns the seconds until the next test of all keys.
    ///
    /// They are 0 if there was no test yet, or if the clock was set back since.
    private func secondsUntilAll(after last: Int64?) -> Double {
        guard let last, ports.clock.now >= last else { return 0 }
        return max(Self.pause - Double(ports.clock.now - last), 0)
    }

    /// Tests all keys one after the other, the agent's own first: external keys may be slow.
    private func testAll(failed: inout Set<EnrollmentID>, onStep: @Sendable (StartStep) -> Void) async throws {
        let (count, external) = try await ports.patiently {
            try await ports.store.read { (try $0.enrollmentCount(), try $0.enrollmentsOfExternalKeys()) }
        }
        var (seen, isOneUsable, isSaid) = (0, false, false)
        func look(at enrollment: Enrollment) async throws {
            try await testKey(of: enrollment, failed: &failed)
            seen += 1
            if seen == enough { ownKeysAreSeen() }
            // Enough keys are tested: the start goes on, so other work may run first.
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

    /// Waits until the start may go on: all own keys, or ``enough`` keys, are tested.
    ///
    /// Waits no longer than ``outsidePatience``. Without this wait, other work would take processor time from the test.
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
        // The status said that not all keys were tested, maybe of a ready agent. This event makes it be read again.
        if wasFirst { hub.publish(.firstLookOver) }
    }

    /// Returns why no tested key can be used.
    ///
    /// `nil` if a key can be used, if none has failed, or if none is needed.
    ///
    /// - Parameter areAllSeen: whether the round is complete. A key without a result, such as one whose test would take
    ///   a PIN, then counts as usable.
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
            } catch let failure as CustodyError {
                // The enrollment may have ended since it was read, and its key with it.
                let now = try await ports.store.read { try $0.enrollment(name) }
                guard now?.membership != nil else { return health.forget(name) }
                // ``ProvenCustody`` has recorded all failures except those about a PIN. An approval without a PIN fails
                // in the same way.
                guard enrollment.authnType != .pin, failure.isAboutPIN else { return }
                let test = KeyTest(extent: .signature, at: ports.clock.now, problem: failure.description)
                if health.record(test, of: name) { hub.publish(.keyFailed(name)) }
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
            // Only a signature can clear a failure of a signature.
            if last?.problem != nil, last?.extent == .signature { return }
            try await ports.custody.verify(enrollment.keyReference)
        case (.own, _) where last?.problem == nil:
            try await ports.custody.verify(enrollment.keyReference)
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
