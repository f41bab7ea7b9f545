import IssuerProtocol

extension FetchLoop {
    /// False where the issuer had nothing new to say.
    func take(
        _ results: [BatchFetchAnswer.Result], asked members: [FetchMember], _ route: IssuerRoute
    ) async throws -> Bool {
        let asked = Dictionary(uniqueKeysWithValues: members.map { ($0.authenticatorId, $0) })
        // Whatever the issuer says about others is nobody's.
        let answered = results.compactMap { result in asked[result.authenticatorId].map { ($0, result.outcome) } }
        let enrollments = try await ports.book.read { book in try answered.map { try book.enrollment($0.0.id) } }
        let named = Set(answered.map(\.0.id))
        // About whom the issuer says nothing, all is well.
        for member in members where !named.contains(member.id) { fetcher.health.note(member.id, trouble: nil) }
        var isNews = false
        for ((member, outcome), enrollment) in zip(answered, enrollments) {
            guard let enrollment else { continue }
            do {
                if try await take(outcome, member, enrollment) { isNews = true }
            } catch {
                try Task.checkCancellation()
                try leaveOut(member, error, route)
                isNews = true
            }
        }
        return isNews
    }

    private func take(
        _ outcome: BatchFetchAnswer.Outcome, _ member: FetchMember, _ enrollment: Enrollment
    ) async throws -> Bool {
        switch outcome {
        case .list(let list):
            try await fetcher.keep(list, for: enrollment)
            roster.with { $0[member.id]?.goOn(from: list.cursor) }
            guard let cursor = member.cursor else { return true }
            return !list.requests.isEmpty && !list.cursor.utf8.elementsEqual(cursor.utf8)
        case .problem(.invalidToken):
            try await fetcher.setKnown(false, enrollment)
            let next = ports.clock.now + Self.suspendedPause
            roster.with { $0[member.id]?.suspend(until: next) }
            return true
        case .problem(.unknownCursor) where member.cursor != nil:
            roster.with { $0[member.id]?.startAnew() }
            return false
        case .problem(let code):
            let answer = code?.rawValue ?? "a problem whose code is not known"
            throw IssuerFailure.transient(reason: "the issuer answered \(answer)", retryAfter: nil)
        }
    }

    /// One that does not go well is tried again later, and does not hold the others up.
    private func leaveOut(_ member: FetchMember, _ error: any Error, _ route: IssuerRoute) throws {
        let failure = error as? IssuerFailure
        fetcher.note(failure?.reason ?? "what came could not be kept: \(error)", [member.id], route)
        let now = ports.clock.now
        try roster.with { groups in
            try groups[member.id]?.pause(now: now, retryAfter: failure?.retryAfter, entropy: ports.entropy)
        }
    }
}
