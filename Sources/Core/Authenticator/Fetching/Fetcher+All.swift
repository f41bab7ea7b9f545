import IssuerProtocol
import Records
import StoreTables

/// Failures of a fetch, by issuer and reason.
struct FetchFailures: Sendable {
    /// The most failures that are listed.
    ///
    /// An issuer may give a new reason each time, so more are counted with the last.
    static let limit = 100

    private(set) var all: [FetchFailure] = []
    private var places: [Key: Int] = [:]

    private struct Key: Hashable {
        let target: IssuerTarget
        let reason: String
    }

    mutating func add(_ enrollment: Enrollment, _ reason: String, count: Int = 1) {
        let key = Key(target: enrollment.target, reason: reason)
        if let place = places[key] {
            all[place].count += count
        } else if all.count < Self.limit {
            places[key] = all.count
            all.append(FetchFailure(enrollment: enrollment, reason: reason, count: count))
        } else {
            all[Self.limit - 1].count += count
        }
    }
}

/// A fetch of all enrollments, a page at a time.
extension Fetcher {
    /// The seconds that a fetch for all may take, and one more for each ``enrollmentsInSecond``.
    ///
    /// The client waits longer than that.
    static let patience: Double = 45
    static let enrollmentsInSecond = 2_000
    /// The most calls to issuers at a time.
    private static let atATime = 16
    /// The most results of an answer that are stored at a time.
    ///
    /// Their writes then share a commit.
    private static let keptAtATime = 32

    /// Fetches for all open enrollments, with one call for up to 1,000 if the issuer has a batch fetch.
    ///
    /// An enrollment that is made meanwhile may be omitted, because it is fetched for by itself. An issuer that did not
    /// answer is not called for the enrollments of later pages.
    ///
    /// - Parameter page: the number of rows that are read at a time.
    /// - Returns: the failures, including calls that did not end in time.
    func fetchAll(page: Int = BatchFetchRequest.limit) async throws -> [FetchFailure] {
        let begun = ports.patience.steady
        let count = try await ports.store.survey { try $0.enrollmentCount() }
        let end = begun + Self.patience + Double(count / Self.enrollmentsInSecond)
        var (failures, away, place): (FetchFailures, [IssuerTarget: String], Int64?) = (FetchFailures(), [:], nil)
        var seen = 0
        while true {
            let after = place
            let found = try await ports.store.survey {
                try $0.enrollmentPage(after: after, limit: page, includingEnded: false)
            }
            guard let found else { return failures.all }
            place = found.place
            let members = found.enrollments.filter { $0.membership != nil }
            for enrollment in members { away[enrollment.target].map { failures.add(enrollment, $0) } }
            let outcome = try await fetch(members.filter { away[$0.target] == nil }, until: end)
            for (enrollment, reason) in outcome.failures { failures.add(enrollment, reason) }
            away.merge(outcome.away) { first, _ in first }
            seen += found.enrollments.count
            // The other rows are not read: the client no longer waits.
            guard ports.patience.steady < end || seen >= count else {
                members.last.map { failures.add($0, Self.notAsked, count: count - seen) }
                return failures.all
            }
        }
    }

    /// Fetches for one enrollment.
    ///
    /// Returns the failure, also if the call did not end in time.
    func fetchOne(_ enrollment: Enrollment) async throws -> [FetchFailure] {
        guard enrollment.membership != nil else { return [] }
        let outcome = try await fetch([enrollment], until: ports.patience.steady + Self.patience)
        return outcome.failures.map { FetchFailure(enrollment: $0, reason: $1, count: 1) }
    }

    private static let notAsked = "it was not asked: others took too long to answer"

    /// The enrollments of one call.
    private struct Asked: Sendable {
        let enrollments: [Enrollment]
        /// The issuer's discovery, for a batch fetch.
        ///
        /// `nil` for a fetch of one enrollment.
        var batch: Discovery?
    }

    private struct Outcome: Sendable {
        var failures: [(Enrollment, String)] = []
        /// The issuers that did not answer.
        var away: [IssuerTarget: String] = [:]
    }

    private func fetch(_ enrollments: [Enrollment], until end: Double) async throws -> Outcome {
        let groups = Dictionary(grouping: enrollments, by: \.target)
        var (calls, outcome): ([Asked], Outcome) = ([], Outcome())
        for (group, result) in try await each(Array(groups.values), until: end, { try await discovered($0) }) {
            switch result {
            case .success(let found): calls += found
            case .failure(let failure):
                outcome.failures += group.map { ($0, failure.reason) }
                group.first.map { outcome.away[$0.target] = failure.reason }
            }
        }
        for (call, result) in try await each(calls, until: end, { try await fetch($0) }) {
            switch result {
            case .success(let failures): outcome.failures += failures
            case .failure(let failure):
                outcome.failures += call.enrollments.map { ($0, failure.reason) }
                guard case .transient = failure, let first = call.enrollments.first else { continue }
                outcome.away[first.target] = failure.reason
            }
        }
        return outcome
    }

    /// Works on all inputs, a limited number at a time, so that a slow one does not delay the others.
    ///
    /// - Returns: each input with its result by `end`, on the steady clock, in no order.
    private func each<Input: Sendable, Output: Sendable>(
        _ inputs: [Input], until end: Double, _ work: @escaping @Sendable (Input) async throws -> Output
    ) async throws -> [(Input, Result<Output, IssuerError>)] {
        var (waiting, results) = (inputs[...], [(Input, Result<Output, IssuerError>)]())
        try await withThrowingTaskGroup(of: (Input, Result<Output, IssuerError>).self) { group in
            func begin(_ input: Input) {
                group.addTask { (input, try await result(until: end) { try await work(input) }) }
            }
            waiting.prefix(Self.atATime).forEach(begin)
            waiting = waiting.dropFirst(Self.atATime)
            while let result = try await group.next() {
                results.append(result)
                if let next = waiting.popFirst() { begin(next) }
            }
        }
        return results
    }

    private func result<Output: Sendable>(
        until end: Double, _ work: @escaping @Sendable () async throws -> Output
    ) async throws -> Result<Output, IssuerError> {
        let left = end - ports.patience.steady
        guard left > 0 else {
            return .failure(.transient(reason: Self.notAsked, retryAfter: nil))
        }
        return try await withThrowingTaskGroup(of: Result<Output, IssuerError>.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                do {
                    return .success(try await work())
                } catch let failure as IssuerError {
                    return .failure(failure)
                }
            }
            group.addTask {
                try await ports.patience.sleep(seconds: left)
                return .failure(.transient(reason: "the issuer did not answer in time", retryAfter: nil))
            }
            guard let first = try await group.next() else { throw CancellationError() }
            return first
        }
    }

    /// Divides the enrollments of one issuer among calls.
    ///
    /// A suspended enrollment gets a call of its own: a batch fetch may omit an enrollment that has recovered.
    private func discovered(_ enrollments: [Enrollment]) async throws -> [Asked] {
        guard let target = enrollments.first?.target, enrollments.count > 1 else {
            return enrollments.map { Asked(enrollments: [$0]) }
        }
        let discovery: Discovery
        do {
            discovery = try await directory.discovery(target)
        } catch {
            try Task.checkCancellation()
            noteFailure(error.reason, of: enrollments.map(\.id), at: target)
            throw error
        }
        guard discovery.batchFetchEndpoint != nil else { return enrollments.map { Asked(enrollments: [$0]) } }
        let active = enrollments.filter { if case .active = $0.state { true } else { false } }
        let others = enrollments.filter { if case .active = $0.state { false } else { true } }
        return others.map { Asked(enrollments: [$0]) }
            + stride(from: 0, to: active.count, by: BatchFetchRequest.limit).map { start in
                let end = min(start + BatchFetchRequest.limit, active.count)
                return Asked(enrollments: Array(active[start..<end]), batch: discovery)
            }
    }

    private func fetch(_ asked: Asked) async throws -> [(Enrollment, String)] {
        guard let target = asked.enrollments.first?.target, let discovery = asked.batch else {
            guard let enrollment = asked.enrollments.first else { return [] }
            do {
                try await fetchNow(enrollment)
                return []
            } catch let damage as CommandError {
                return [(enrollment, damage.message)]
            }
        }
        do {
            return try await fetchBatch(asked.enrollments, at: target, discovery)
        } catch let failure as IssuerError {
            // A call that failed because the agent stops is not a failure of the issuer.
            try Task.checkCancellation()
            noteFailure(failure.reason, of: asked.enrollments.map(\.id), at: target)
            throw failure
        }
    }

    /// Fetches all listed requests, in up to a hundred full answers.
    private func fetchBatch(
        _ enrollments: [Enrollment], at target: IssuerTarget, _ discovery: Discovery
    ) async throws -> [(Enrollment, String)] {
        var (asked, entries): ([TokenID: Enrollment], [TokenID: BatchFetchRequest.Entry]) = ([:], [:])
        for enrollment in enrollments {
            guard let membership = enrollment.membership else { continue }
            asked[membership.authenticatorId] = enrollment
            entries[membership.authenticatorId] = BatchFetchRequest.Entry(
                authenticatorId: membership.authenticatorId,
                accessToken: try ports.sealing.open(membership.sealedToken, for: enrollment.id), after: nil)
        }
        var failures: [(Enrollment, String)] = []
        for _ in 0..<Self.maxPages where !entries.isEmpty {
            let request = BatchFetchRequest(wait: 0, entries: Array(entries.values))
            let results = try await ports.gateway.batchFetch(target, discovery, request: request).results
            let answered = results.compactMap { result in asked[result.authenticatorId].map { (result, $0) } }
            // Results for other authenticators are dropped: no enrollment of this call has them.
            if let other = results.first(where: { asked[$0.authenticatorId] == nil }) {
                intake.dropNotAsked(other.authenticatorId, at: target.issuer)
            }
            for (result, enrollment, reason) in try await kept(answered) {
                let id = result.authenticatorId
                if let reason {
                    failures.append((enrollment, reason))
                    entries[id] = nil
                } else if case .list(let list) = result.outcome, let entry = entries[id] {
                    entries[id] = BatchFetchRequest.Entry(
                        authenticatorId: id, accessToken: entry.accessToken, after: list.cursor)
                }
            }
            // An answer with fewer requests than the limit is complete.
            if results.reduce(0, { $0 + $1.requestCount }) < RequestList.limit { break }
        }
        // An enrollment without a result has no trouble.
        let now = ports.clock.now
        for id in entries.keys { asked[id].map { _ = health.record($0.id, trouble: nil, at: now) } }
        return failures
    }

    /// Stores an issuer's results.
    ///
    /// Returns each with the reason why it could not be stored, or with `nil`.
    private func kept(
        _ answered: [(BatchFetchAnswer.Result, Enrollment)]
    ) async throws -> [(BatchFetchAnswer.Result, Enrollment, String?)] {
        try await withThrowingTaskGroup(of: (BatchFetchAnswer.Result, Enrollment, String?).self) { group in
            var (waiting, kept) = (answered[...], [(BatchFetchAnswer.Result, Enrollment, String?)]())
            func begin(_ one: (BatchFetchAnswer.Result, Enrollment)) {
                group.addTask { (one.0, one.1, try await problem(keeping: one.0.outcome, of: one.1)) }
            }
            waiting.prefix(Self.keptAtATime).forEach(begin)
            waiting = waiting.dropFirst(Self.keptAtATime)
            while let one = try await group.next() {
                kept.append(one)
                if let next = waiting.popFirst() { begin(next) }
            }
            return kept
        }
    }

    private func problem(
        keeping outcome: BatchFetchAnswer.Outcome, of enrollment: Enrollment
    ) async throws -> String? {
        switch outcome {
        case .list(let list):
            do {
                try await keep(list, for: enrollment)
                return nil
            } catch let damage as CommandError {
                noteFailure(damage.message, of: [enrollment.id], at: enrollment.target)
                return damage.message
            }
        case .problem(let code):
            let answer = code?.rawValue ?? "a problem whose code is not known"
            let reason = "the issuer answered \(answer)"
            if code == .invalidToken {
                try await setKnown(false, enrollment)
            } else {
                noteFailure(reason, of: [enrollment.id], at: enrollment.target)
            }
            return reason
        }
    }
}
