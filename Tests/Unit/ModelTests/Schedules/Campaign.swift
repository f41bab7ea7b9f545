import FoundationEssentials

/// Schedules of many seeds, one after another.
struct Campaign {
    /// The first seed, and how many follow; `MODEL_SEED` and `MODEL_SCHEDULES` ask for others.
    var seed: UInt64 = 1
    var schedules = 40
    /// How many hosts are at once on one PostgreSQL; 1 is one agent on the store of the run.
    var hosts = 1

    static var asked: Campaign {
        var campaign = Campaign()
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["MODEL_SEED"].flatMap({ UInt64($0) }) { campaign.seed = seed }
        if let schedules = environment["MODEL_SCHEDULES"].flatMap({ Int($0) }) { campaign.schedules = schedules }
        return campaign
    }

    /// What went wrong in a schedule, made as small as it gets.
    struct Failure: CustomStringConvertible {
        let seed: UInt64
        /// How many schedules were run, this one among them.
        let number: Int
        let schedule: [Step]
        let finding: Finding

        var description: String {
            let steps = schedule.map { "    \($0),\n" }.joined()
            return "\(finding)\nseed \(seed), schedule \(number), as small as it gets:\n[\n\(steps)]\n"
                + "again: make model-test SEED=\(seed) SCHEDULES=1"
        }
    }

    /// The first failure; nil if there is none.
    func firstFailure() async throws -> Failure? {
        let issuer = try SampleIssuer(cards: Generator.cards)
        let workers = ProcessInfo.processInfo.activeProcessorCount
        return try await withThrowingTaskGroup(of: Failure?.self) { group in
            for worker in 0..<workers {
                group.addTask {
                    for number in stride(from: worker, to: schedules, by: workers) {
                        if number > 0, number.isMultiple(of: 1_000) { print("\(number) schedules") }
                        if let failure = try await failure(number, at: issuer) { return failure }
                    }
                    return nil
                }
            }
            defer { group.cancelAll() }
            for try await failure in group where failure != nil { return failure }
            return nil
        }
    }

    private func failure(_ number: Int, at issuer: SampleIssuer) async throws -> Failure? {
        let seed = seed &+ UInt64(number)
        let schedule = Generator.schedule(seed: seed)
        guard var first = try await Rehearsal.run(schedule, at: issuer, hosts: hosts) else { return nil }
        if first.isTimeOver {
            print("seed \(seed): \(first); once more")
            guard let second = try await Rehearsal.run(schedule, at: issuer, hosts: hosts) else { return nil }
            first = second
        }
        let shrinker = Shrinker { candidate in
            try await Rehearsal.run(candidate, at: issuer, hosts: hosts, patience: .seconds(5)) != nil
        }
        let smallest = try await shrinker.smallest(schedule)
        let finding = try await Rehearsal.run(smallest, at: issuer, hosts: hosts)
        return Failure(seed: seed, number: number + 1, schedule: smallest, finding: finding ?? first)
    }
}
