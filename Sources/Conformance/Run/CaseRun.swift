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

/// Plays cases in the order that a seed gives them, several at a time.
package struct CaseRun: Sendable {
    /// How long one case may take; then it has failed.
    package static let limit = Duration.seconds(120)

    package let seed: UInt64
    /// How many are played at a time.
    package let jobs: Int

    package init(seed: UInt64, jobs: Int) {
        self.seed = seed
        self.jobs = jobs
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
            progress(outcome)
        }
        await withTaskGroup(of: CaseOutcome.self) { group in
            for (index, playable) in shuffled.filter({ !$0.runsAlone }).enumerated() {
                if index >= jobs, let outcome = await group.next() { over(outcome) }
                group.addTask { await Self.outcome(of: playable) }
            }
            for await outcome in group { over(outcome) }
        }
        for playable in shuffled where playable.runsAlone { over(await Self.outcome(of: playable)) }
        return outcomes
    }

    private static func outcome(of playable: PlayableCase) async -> CaseOutcome {
        let (trace, began) = (Trace(), ContinuousClock.now)
        var (verdict, cause): (CaseOutcome.Verdict, String?) = (.passed, nil)
        do {
            try await withLimit { try await playable.play(trace) }
        } catch let end as CaseEnd {
            switch end {
            case .failed(let why): (verdict, cause) = (.failed, why)
            case .notShown(let why): (verdict, cause) = (.notShown, why)
            case .broken(let why): (verdict, cause) = (.broken, why)
            }
        } catch {
            (verdict, cause) = (.broken, "the kit itself failed: \(error)")
        }
        return CaseOutcome(
            header: playable.header, verdict: verdict, cause: cause,
            milliseconds: Int(began.duration(to: .now) / .milliseconds(1)), exchanges: trace.exchanges)
    }

    /// Whichever is first: the end of `work`, or the limit.
    private static func withLimit(_ work: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await work() }
            group.addTask {
                try await Task.sleep(for: limit)
                throw CaseEnd.failed("was not over within \(limit.components.seconds) s")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
