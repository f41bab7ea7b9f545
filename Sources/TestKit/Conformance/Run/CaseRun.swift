import Sandbox

/// A case ready to be played.
package struct PlayableCase: Sendable {
    package let header: CaseHeader
    /// Whether this case must run alone, such as a case that moves the tested side's clock.
    let runsAlone: Bool
    /// Plays the case; throws a ``CaseEnd`` if the result is not the expected one.
    let play: @Sendable (Trace) async throws -> Void

    package init(
        header: CaseHeader, runsAlone: Bool, play: @escaping @Sendable (Trace) async throws -> Void
    ) {
        self.header = header
        self.runsAlone = runsAlone
        self.play = play
    }
}

/// The time limit of a run.
package struct RunLimit: Sendable {
    package static let standardSeconds = 3_600

    private let seconds: Int
    let end: ContinuousClock.Instant

    /// Starts a limit now.
    package init(seconds: Int = Self.standardSeconds) {
        self.seconds = seconds
        end = .now + .seconds(seconds)
    }

    var isOver: Bool { ContinuousClock.now >= end }

    /// The reason for a case that was not run.
    var sentence: String { "the run was over after \(seconds) s (--time-limit)" }
}

/// Plays cases in an order that depends on a seed, several at a time.
package struct CaseRun: Sendable {
    /// The time limit of one case; after it the case has failed.
    package static let limit = Duration.seconds(120)
    /// The limit of the exchanges that all cases keep for the report, in bytes.
    package static let maxKept = 20_000_000

    package let seed: UInt64
    /// The number of cases played at a time.
    package let jobs: Int
    private let limit: RunLimit

    package init(seed: UInt64, jobs: Int, limit: RunLimit = RunLimit()) {
        self.seed = seed
        self.jobs = jobs
        self.limit = limit
    }

    /// Plays cases, and returns the outcomes in the order in which the cases ended.
    ///
    /// - Parameter progress: is called with each outcome, one call at a time.
    package func outcomes(
        of cases: [PlayableCase], progress: (CaseOutcome) -> Void
    ) async -> [CaseOutcome] {
        var random = SplitMix64(seed: seed)
        let shuffled = random.shuffled(cases)
        var outcomes: [CaseOutcome] = []
        func over(_ outcome: CaseOutcome) {
            outcomes.append(outcome)
            Self.bound(&outcomes)
            progress(outcome)
        }
        await withTaskGroup(of: CaseOutcome.self) { group in
            for (index, playable) in shuffled.filter({ !$0.runsAlone }).enumerated() {
                if index >= jobs, let outcome = await group.next() { over(outcome) }
                group.addTask { await outcome(of: playable) }
            }
            for await outcome in group { over(outcome) }
        }
        for playable in shuffled where playable.runsAlone { over(await outcome(of: playable)) }
        return outcomes
    }

    /// Trims each case to an equal share if all together keep too many bytes.
    private static func bound(_ outcomes: inout [CaseOutcome]) {
        let kept = outcomes.reduce(0) { $0 + $1.exchanges.totalBytes }
        guard kept > maxKept else { return }
        let share = maxKept / outcomes.count { $0.exchanges.totalBytes > 0 }
        for index in outcomes.indices { outcomes[index].exchanges.trim(to: share) }
    }

    private func outcome(of playable: PlayableCase) async -> CaseOutcome {
        guard !limit.isOver else { return .notRun(playable.header, because: limit.sentence) }
        let (trace, began) = (Trace(), ContinuousClock.now)
        var (verdict, cause): (CaseOutcome.Verdict, String?) = (.passed, nil)
        do {
            try await withLimit { try await playable.play(trace) }
        } catch let end as CaseEnd {
            switch end {
            case .failed(let why): (verdict, cause) = (.failed, why)
            case .notShown(let why): (verdict, cause) = (.notShown, why)
            case .broken(let why): (verdict, cause) = (.broken, why)
            case .notRun(let why): (verdict, cause) = (.notRun, why)
            }
        } catch {
            (verdict, cause) = (.broken, "the kit itself failed: \(error)")
        }
        return CaseOutcome(
            header: playable.header, verdict: verdict, cause: cause,
            milliseconds: Int(began.duration(to: .now) / .milliseconds(1)), exchanges: trace.exchanges)
    }

    /// Runs `work` until its end, the case's limit or the run's limit: the earliest of the three.
    private func withLimit(_ work: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await work() }
            group.addTask {
                let end = min(.now + Self.limit, limit.end)
                try await Task.sleep(until: end)
                if limit.isOver { throw CaseEnd.notRun(limit.sentence) }
                throw CaseEnd.failed("was not over within \(Self.limit.components.seconds) s")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
