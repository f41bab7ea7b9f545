#if Personas
package import Authenticator
import Glibc
import IssuerProtocol
package import Logging
package import Records
import Signing
import StoreTables
import Synchronization
import WrongAssertions

/// Plays the cardholders of `test` enrollments, with personas, tags and rules.
package final class Cardholders: Sendable {
    /// The settings of the personas.
    package struct Settings: Sendable {
        package var rules: [Rule]
        /// Whether a transaction may name the persona that answers it.
        package var takesTags: Bool

        package init(rules: [Rule] = [], takesTags: Bool = false) {
            self.rules = rules
            self.takesTags = takesTags
        }
    }

    /// More than the sandbox accepts in ten seconds.
    private static let floodSize = 500
    private static let pageSize = 100
    /// The most seconds between two tries: the issuer may be unreachable for long.
    private static let longestPause: Double = 60

    let agent: Agent
    let settings: Mutex<Settings>
    let readSettings: @Sendable () -> Result<Settings, CommandError>
    private let crash: @Sendable () -> Void
    private let log: Logger

    /// - Parameters:
    ///   - readSettings: reads the settings again.
    ///   - crash: ends the process at once.
    package init(
        _ agent: Agent, _ settings: Settings,
        readingAgain readSettings: @escaping @Sendable () -> Result<Settings, CommandError>,
        crashingBy crash: @escaping @Sendable () -> Void = { kill(getpid(), SIGKILL) }, log: Logger
    ) {
        self.agent = agent
        self.settings = Mutex(settings)
        self.readSettings = readSettings
        self.crash = crash
        self.log = log
    }

    /// Uses these settings for later requests.
    package func use(_ new: Settings) { settings.withLock { $0 = new } }

    /// Plays until the task is cancelled.
    package func play() async throws {
        try await agent.playing { [self] id in await play(id) }
    }

    /// Answers one request, if it has a script.
    private func play(_ id: RequestID) async {
        do {
            guard let (script, request) = try await settled(id) else { return }
            let left = Self.time(of: script, for: request) - Double(agent.agentClock.now)
            if left > 0 { try await agent.agentClock.sleep(seconds: left) }
            try await actInTime(script, on: request)
        } catch is CancellationError {
        } catch let error as CommandError where error.code == .noLongerDecidable {
            // Somebody else decided the request, or it has ended.
        } catch {
            log.error("a persona could not answer", metadata: ["request": "\(id)", "reason": "\(error)"])
        }
    }

    /// The time of a script's answer, in seconds since 1970.
    private static func time(of script: Script, for request: RequestRecord) -> Double {
        script.persona == .answersAfterExpiry
            ? Double(request.exp ?? 0) + Double(max(script.delay, 1))
            : Double(request.receivedAt) + Double(script.delay)
    }

    /// Acts, and tries again while the issuer is unreachable or has not reported its accepted signCount.
    ///
    /// A person would do the same. The last try is just before the request expires.
    private func actInTime(_ script: Script, on request: RequestRecord) async throws {
        if script.persona == .floodsFetch {
            try await agent.fetchTooOften(times: Self.floodSize, for: request, by: script.persona.rawValue)
        }
        var pause: Double = 1
        while true {
            do {
                return try await act(script, on: request)
            } catch let error as CommandError
                where error.code == .issuerUnreachable && agent.agentClock.now < request.exp ?? 0
            {
                let left = Double(request.exp ?? 0) - Double(agent.agentClock.now)
                try await agent.agentClock.sleep(seconds: max(1, min(pause, left - 1)))
                pause = min(2 * pause, Self.longestPause)
            }
        }
    }

    private func act(_ script: Script, on request: RequestRecord) async throws {
        switch script.persona {
        case .ask, .neverAnswers: break
        case .autoDeny: try await deny(request, .userDenied, script)
        case .denyAsFraud: try await deny(request, .suspectedFraud, script)
        case .autoApprove, .floodsFetch:
            _ = try await agent.decide(.approve, on: request.id, expecting: Expectations(), by: script.approver)
        case .oldAssertion:
            let earlier = try await earlierApproval(of: request.enrollmentId)
            let answer: any TestAnswer = earlier.map { EarlierDecision(bytes: $0) } ?? WrongAssertion.none
            _ = try await agent.approve(request.id, by: script.approver, answering: answer)
        case .answersTwice:
            guard let sent = try await approveAndDeliver(request, script) else { return }
            try await agent.send(sent, for: request, by: script.persona.rawValue)
        case .approvesThenDenies:
            guard try await approveAndDeliver(request, script) != nil else { return }
            try await agent.send(DecisionBody.deny(.userDenied), for: request, by: script.persona.rawValue)
        case .answersAfterExpiry:
            let late = try await agent.undecidedApproval(of: request, by: WrongAssertion.none)
            try await agent.send(late, for: request, by: script.persona.rawValue)
        case .crashesAfterSigning: try await crashOnce(script, on: request)
        case .disappears:
            _ = try await agent.unenroll(request.enrollmentId, locally: false, forced: true, erasing: false)
            try await agent.recordPlay("unenrolled", by: script.persona.rawValue, request)
        default:
            guard let wrong = script.persona.wrong else { return }
            _ = try await agent.approve(request.id, by: script.approver, answering: wrong)
        }
    }

    private func deny(_ request: RequestRecord, _ reason: DenyReason, _ script: Script) async throws {
        _ = try await agent.decide(.deny(reason), on: request.id, expecting: Expectations(), by: script.approver)
    }

    /// - Returns: the decision that was sent. `nil` if the issuer has not accepted it by the request's `exp`.
    private func approveAndDeliver(_ request: RequestRecord, _ script: Script) async throws -> [UInt8]? {
        let decided = try await agent.decide(
            .approve, on: request.id, expecting: Expectations(), by: script.approver)
        let left = max(0, Double(request.exp ?? 0) - Double(agent.agentClock.now))
        guard case .delivered = try await agent.delivered(decided, seconds: left).life.delivery else { return nil }
        return try await agent.store.read { try $0.evidence(of: request.id).decision }
    }

    /// The decision for the newest request that was approved earlier.
    private func earlierApproval(of enrollment: EnrollmentID) async throws -> [UInt8]? {
        try await agent.store.read { store in
            let newest = try store.requests(pendingOnly: false, enrollment: enrollment, limit: Self.pageSize)
            for request in newest.reversed() where request.life.state == .approved {
                if let decision = try store.evidence(of: request.id).decision { return decision }
            }
            return nil
        }
    }

    /// Ends the process after it has signed; after the next start it approves the request.
    private func crashOnce(_ script: Script, on request: RequestRecord) async throws {
        guard !script.hasCrashed else {
            _ = try await agent.decide(.approve, on: request.id, expecting: Expectations(), by: script.approver)
            return
        }
        var crashed = script
        crashed.hasCrashed = true
        let document = crashed.document
        try await agent.store.write { try $0.setScript(document, rule: script.rule, of: request.id) }
        log.warning("a persona ends this process", metadata: ["request": "\(request.id)"])
        _ = try await agent.approve(request.id, by: script.approver, answering: CrashAfterSigning(crash: crash))
    }
}

/// Signs, and then ends the process before anything is stored.
private struct CrashAfterSigning: TestAnswer {
    let crash: @Sendable () -> Void

    func body(of approval: TestApproval) async throws -> [UInt8] {
        let body = try await WrongAssertion.none.body(of: approval)
        crash()
        return body
    }
}
#endif
