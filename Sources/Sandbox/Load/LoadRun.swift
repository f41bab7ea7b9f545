import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import StrictJSON
import ThreeDS

/// Starts purchases at the times of a plan, and reads what became of them.
package struct LoadRun: Sendable {
    let plan: LoadPlan
    let client: SandboxClient

    package init(_ plan: LoadPlan, on client: SandboxClient) {
        self.plan = plan
        self.client = client
    }

    /// One purchase of the plan, after its answer.
    private struct Sent: Sendable {
        let number: Int
        /// Milliseconds from when it was due to when it was sent.
        let lag: Int64
        let result: Result<String, SandboxClient.CallError>
    }

    /// - Parameter progress: called each second or so with how many were sent.
    package func run(
        progress: @escaping @Sendable (_ sent: Int, _ of: Int) -> Void
    ) async throws(SandboxClient.CallError) -> LoadReport {
        let authenticators = try await client.activeAuthenticators()
        guard !authenticators.isEmpty else { throw .refused("no authenticator is enrolled: enroll one first") }
        let began = ContinuousClock.now
        let sent = await send(to: authenticators, from: began, progress)
        var lags: [String: Int64] = [:]
        var refusals: [String: Int] = [:]
        for one in sent {
            switch one.result {
            case .success(let acsTransId): lags[acsTransId] = one.lag
            case .failure(let error): refusals[error.description, default: 0] += 1
            }
        }
        var results: [LoadResult] = []
        var problem: String?
        do throws(SandboxClient.CallError) {
            try await drain()
            results = try await client.results(of: lags.keys)
        } catch {
            // What was sent is known all the same.
            problem = "what became of the purchases is not known: \(error)"
        }
        var outcomes: [String: Int] = [:]
        var latencies: [Int64] = []
        for result in results {
            outcomes[result.status, default: 0] += 1
            guard let milliseconds = result.milliseconds, result.isDecided, let lag = lags[result.acsTransId] else {
                continue
            }
            latencies.append(milliseconds.later(by: lag))
        }
        // The first purchase was due at the start: the last result came so long after it.
        let decidedWithin = results.compactMap(\.decidedAt).max().flatMap { last in
            results.compactMap(\.startedAt).min().map { Double(last.seconds(since: $0)) / 1_000 }
        }
        return LoadReport(
            plan: plan, authenticators: authenticators.count, sent: sent.count,
            lastLag: Double(sent.max { $0.number < $1.number }?.lag ?? 0) / 1_000, started: lags.count,
            refusals: refusals, outcomes: outcomes, latency: Percentiles(of: latencies),
            decidedWithin: decidedWithin ?? 0, problem: problem)
    }

    /// Sends each at its time, or as soon after it as there is room, and none after the plan's end.
    private func send(
        to authenticators: [String], from began: ContinuousClock.Instant,
        _ progress: @escaping @Sendable (Int, Int) -> Void
    ) async -> [Sent] {
        let sender = client.pooled(connections: LoadPlan.maxInFlight)
        let sent = await withTaskGroup(of: Sent.self, returning: [Sent].self) { group in
            var all: [Sent] = []
            var inFlight = 0
            var told = 0
            for number in 0..<plan.count {
                let due = began + plan.due(number)
                try? await Task.sleep(until: due, clock: .continuous)
                // What answers later than the plan allows holds up what is due: that is told as lag.
                while inFlight >= LoadPlan.maxInFlight, let one = await group.next() {
                    all.append(one)
                    inFlight -= 1
                }
                let now = ContinuousClock.now
                guard now < began + plan.end, !Task.isCancelled else { break }
                if number - told >= plan.rate {
                    progress(number, plan.count)
                    told = number
                }
                let authenticator = authenticators[number % authenticators.count]
                let lag = (now - due).milliseconds
                group.addTask {
                    do throws(SandboxClient.CallError) {
                        return Sent(
                            number: number, lag: lag, result: .success(try await sender.startPurchase(authenticator)))
                    } catch { return Sent(number: number, lag: lag, result: .failure(error)) }
                }
                inFlight += 1
            }
            for await one in group { all.append(one) }
            return all
        }
        await sender.close()
        return sent
    }

    /// Waits until nothing is pending, for so long at most.
    private func drain() async throws(SandboxClient.CallError) {
        let end = ContinuousClock.now + .seconds(plan.drain)
        while ContinuousClock.now < end, try await client.hasPending(), !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(500))
        }
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    }
}
