import IssuerProtocol
import Records
import StoreTables

extension FetchLoop {
    /// The result of an answer.
    struct Gain {
        static let nothing = Gain(isNews: false, isNew: false)
        static let all = Gain(isNews: true, isNew: true)

        /// Whether requests or a problem came, so that there may be more.
        var isNews: Bool
        /// Whether any of it was not known before.
        var isNew: Bool
    }

    func keepAll(
        _ results: [BatchFetchAnswer.Result], asked members: [FetchMember], at target: IssuerTarget
    ) async throws -> Gain {
        let asked = Dictionary(uniqueKeysWithValues: members.map { ($0.authenticatorId, $0) })
        let answered = results.compactMap { result in asked[result.authenticatorId].map { ($0, result.outcome) } }
        // Results for other authenticators are dropped: no enrollment of this call has them.
        if let other = results.first(where: { asked[$0.authenticatorId] == nil }) {
            fetcher.intake.dropNotAsked(other.authenticatorId, at: target.issuer)
        }
        let enrollments = try await ports.store.read { store in try answered.map { try store.enrollment($0.0.id) } }
        let named = Set(answered.map(\.0.id))
        // An enrollment without a result has no trouble.
        let now = ports.clock.now
        for member in members where !named.contains(member.id) {
            fetcher.health.record(member.id, trouble: nil, at: now)
        }
        let found = zip(answered, enrollments).compactMap { answer, enrollment in
            enrollment.map { Answered(member: answer.0, outcome: answer.1, enrollment: $0) }
        }
        return try await keepAll(found, at: target)
    }

    /// An issuer's result for one enrollment.
    private struct Answered: Sendable {
        let member: FetchMember
        let outcome: BatchFetchAnswer.Outcome
        let enrollment: Enrollment
    }

    /// The most results that are stored at a time.
    ///
    /// Their writes then share a commit.
    private static let atATime = 32

    private func keepAll(_ answered: [Answered], at target: IssuerTarget) async throws -> Gain {
        try await withThrowingTaskGroup(of: Gain.self) { group in
            var waiting = answered[...]
            func begin(_ one: Answered) { group.addTask { try await keepOrLeaveOut(one, at: target) } }
            waiting.prefix(Self.atATime).forEach(begin)
            waiting = waiting.dropFirst(Self.atATime)
            var gain = Gain.nothing
            while let gained = try await group.next() {
                gain = Gain(isNews: gain.isNews || gained.isNews, isNew: gain.isNew || gained.isNew)
                if let next = waiting.popFirst() { begin(next) }
            }
            return gain
        }
    }

    private func keepOrLeaveOut(_ one: Answered, at target: IssuerTarget) async throws -> Gain {
        do {
            return try await keep(one.outcome, of: one.member, one.enrollment)
        } catch let trouble as StoreError {
            throw trouble
        } catch {
            try Task.checkCancellation()
            try leaveOut(one.member, after: error, at: target)
            return .all
        }
    }

    private func keep(
        _ outcome: BatchFetchAnswer.Outcome, of member: FetchMember, _ enrollment: Enrollment
    ) async throws -> Gain {
        switch outcome {
        case .list(let list):
            let isNew = try await fetcher.keep(list, for: enrollment)
            sharedGroups.with { $0[member.id]?.goOn(from: list.cursor) }
            guard let cursor = member.cursor else { return Gain(isNews: true, isNew: isNew) }
            let hasMoved = !list.cursor.utf8.elementsEqual(cursor.utf8)
            return Gain(isNews: !list.requests.isEmpty && hasMoved, isNew: isNew)
        case .problem(.invalidToken):
            try await fetcher.setKnown(false, enrollment)
            let next = ports.clock.now + Self.suspendedPause
            sharedGroups.with { $0[member.id]?.suspend(until: next) }
            return .all
        case .problem(.unknownCursor) where member.cursor != nil:
            sharedGroups.with { $0[member.id]?.startAnew() }
            return .nothing
        case .problem(let code):
            let answer = code?.rawValue ?? "a problem whose code is not known"
            throw IssuerError.transient(reason: "the issuer answered \(answer)", retryAfter: nil)
        }
    }

    /// Pauses an enrollment whose result failed, so that it does not delay the others.
    private func leaveOut(_ member: FetchMember, after error: any Error, at target: IssuerTarget) throws {
        let failure = error as? IssuerError
        fetcher.noteFailure(failure?.reason ?? "what came could not be kept: \(error)", of: [member.id], at: target)
        let now = ports.clock.now
        try sharedGroups.with { groups in
            try groups[member.id]?.pause(now: now, retryAfter: failure?.retryAfter, entropy: ports.entropy)
        }
    }
}
