import Sandbox

/// A case that can be played.
package struct PlayableCase: Sendable {
    package let header: CaseHeader
    /// Whether no other case may be played meanwhile, such as one that moves the tested side's clock.
    let runsAlone: Bool
    /// Plays it; throws a ``CaseEnd`` if it does not come out as it says.
    let play: @Sendable (Trace) async throws -> Void

    package init(
        header: CaseHeader, runsAlone: Bool, play: @escaping @Sendable (Trace) async throws -> Void
    ) {
        self.header = header
        self.runsAlone = runsAlone
        self.play = play
    }
}

/// The limit for a run.
package struct RunLimit: Sendable {
    package static let standardSeconds = 3_600

    private let seconds: Int
    let end: ContinuousClock.Instant

    /// A limit that begins now.
    package init(seconds: Int = Self.standardSeconds) {
        self.seconds = seconds
        end = .now + .seconds(seconds)
    }

    var isOver: Bool { ContinuousClock.now >= end }

    /// Why a case was not run.
    var sentence: String { "the run was over after \(seconds) s (--time-limit)" }
}

/// Plays cases in the order that a seed gives them, several at a time.
package struct CaseRun: Sendable {
    /// How long one case may take; then it has failed.
    package static let limit = Duration.seconds(120)
    /// The most bytes of exchanges that are kept for the report, of all cases.
    package static let maxKept = 20_000_000

    package let seed: UInt64
    /// How many are played at a time.
    package let jobs: Int
    private let limit: RunLimit

    package init(seed: UInt64, jobs: Int, limit: RunLimit = RunLimit()) {
        self.seed = seed
        self.jobs = jobs
        self.limit = limit
    }

    /// The outcomes, as they come.
    ///
    /// - Parameter progress: is told of each case that is over; one call at a time.
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

    /// Gives each case an equal share if all together keep too much.
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

    /// Whichever is first: the end of `work`, the case's limit, or the run's.
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
