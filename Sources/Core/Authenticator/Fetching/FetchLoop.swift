import IssuerProtocol
import Journal
import Logging
import Records
import StoreTables
import TextAndTime

/// Fetches for one group of enrollments until the group is gone: one call at a time for all of them.
struct FetchLoop: Sendable {
    let fetcher: Fetcher
    let roster: FetchRoster
    let group: FetchGroups.ID

    /// The seconds after which a suspended enrollment is looked at again.
    static let suspendedPause: Int64 = 3_600
    /// The most seconds for which an issuer may hold an answer back.
    static let longestWait: Int64 = 50
    /// A poll that ends so many seconds after it began, and before its time, was cut by something on the way.
    static let leastHeld: Double = 5
    /// The seconds for which an issuer that failed is left alone, though somebody waits for a request.
    static let leastRest: Double = 2
    /// The seconds for which shorter polls are made after one was cut.
    static let cutPause: Double = 3_600

    var ports: Ports { fetcher.ports }
    private var log: Logger { fetcher.log }

    func run() async {
        var backoff = Backoff(first: 1, limit: 300)
        var known = 0
        var cut = Cut()
        var seat: LongPolls.Seat?
        let issuer = roster.with { $0.target(of: group) }?.issuer
        defer {
            roster.removeNotifier(of: group)
            issuer.map { fetcher.health.notePause(of: group, at: $0, until: nil) }
        }
        while !Task.isCancelled, let target = roster.with({ $0.target(of: group) }) {
            var pause: Double?
            var wakes = false
            var place = seat ?? fetcher.longPolls.seat(for: target.issuer)
            defer { seat = place }
            do {
                let discovery = try await fetcher.directory.discovery(target)
                let now = ports.clock.now
                guard let turn = roster.with({ $0.turn(of: group, size: discovery.fetchSize, now: now) }) else {
                    return
                }
                for id in turn.suspended { try await lookAgain(id) }
                pause = try await poll(
                    turn, calling: Call(target: target, discovery: discovery), known: &known, cut: &cut, place: &place)
                backoff.reset()
                fetcher.health.notePause(of: group, at: target.issuer, until: nil)
            } catch is StoreError {
                // No cursor has moved past what is not in the store: it is asked for again.
                guard (try? await ports.storeHealth.untilWell()) != nil else { return }
            } catch {
                // A call that was cut off because the agent stops says nothing about the issuer.
                guard !Task.isCancelled else { return }
                let failure = error as? IssuerError
                fetcher.noteFailure(
                    failure?.reason ?? "\(error)", of: roster.with { $0.members(of: group) }, at: target)
                // What a server asked for is kept to; else whoever waits for a request may have it asked for earlier.
                wakes = failure?.retryAfter == nil
                pause = try? backoff.next(retryAfter: failure?.retryAfter, entropy: ports.entropy)
                let until = pause.map { ports.clock.now + Int64($0.rounded(.up)) }
                fetcher.health.notePause(of: group, at: target.issuer, until: until)
            }
            // Whoever rests for long needs no place meanwhile.
            if let pause, pause > Self.leastHeld { place.leaveIfHeld() }
            if let pause { await rest(pause, wakes: wakes) }
        }
    }

    /// What is known of something on the way that cuts polls.
    private struct Cut {
        /// The most seconds to ask for.
        var longest = FetchLoop.longestWait
        /// On the steady clock.
        var until: Double = 0
    }

    /// Whom to call.
    private struct Call: Sendable {
        let target: IssuerTarget
        let discovery: Discovery
    }

    /// Polls once for those who are to be asked for; returns how many seconds to rest before the next turn.
    ///
    /// - Parameter known: how many answers in a row brought nothing that was not known.
    /// - Parameter cut: what is known of polls that were cut; changed if one is.
    /// - Parameter place: the loop's among the long polls, which is handed on after one.
    private func poll(
        _ turn: FetchGroups.Turn, calling call: Call, known: inout Int, cut: inout Cut, place: inout LongPolls.Seat
    ) async throws -> Double? {
        let startedAt = ports.clock.now
        let untilNext = (turn.nextAt ?? .max).seconds(since: startedAt)
        // Those who were looked at have a next time now.
        guard !turn.members.isEmpty else { return turn.suspended.isEmpty ? Double(max(untilNext, 0)) : 0 }
        let interval = pushedInterval(turn.members)
        let begun = ports.patience.steady
        if begun >= cut.until { cut.longest = Self.longestWait }
        let isHeld = interval == nil && place.mayHold()
        let wait = isHeld ? Int(min(max(untilNext, 1), cut.longest)) : 0
        defer { place.handOn() }
        let answer: [BatchFetchAnswer.Result]?
        do {
            answer = try await results(for: turn.members, call, wait: wait)
        } catch let failure as IssuerError where Self.isCut(failure, after: ports.patience.steady - begun, of: wait) {
            // As good as an answer that has nothing to say; shorter polls end before they are cut.
            let held = ports.patience.steady - begun
            cut = Cut(longest: max(Int64(held - Self.leastHeld), Int64(Self.leastHeld)), until: begun + Self.cutPause)
            log.debug(
                "a poll was cut",
                metadata: [
                    "issuer": "\(call.target.issuer.text)", "after": "\(Int(held))", "reason": "\(failure.reason)",
                ])
            return nil
        }
        guard let results = answer else { return nil }
        try Task.checkCancellation()
        let gain = try await keepAll(results, asked: turn.members, at: call.target)
        known = gain.isNew ? 0 : known + 1
        // An issuer that answers at once and has nothing to say, or the same under ever new cursors, would be asked
        // without end.
        let mayHaveMore = gain.isNews && known < Fetcher.maxPages
        // What came may have shown that pushes come no longer.
        if !mayHaveMore, interval != nil, let rest = pushedInterval(turn.members) {
            return Double(min(max(untilNext, 1), rest))
        }
        if !mayHaveMore, interval == nil, !isHeld { return min(LongPolls.pause, Double(max(untilNext, 1))) }
        return mayHaveMore || ports.clock.now > startedAt ? nil : 1
    }

    /// Whether a poll was ended by something on the way that lets none be held for so long.
    ///
    /// It was held, and not to its end. What a server that is busy says is no cut.
    static func isCut(_ failure: IssuerError, after held: Double, of wait: Int) -> Bool {
        guard case .transient(_, retryAfter: nil) = failure, !Task.isCancelled else { return false }
        return held >= leastHeld && held < Double(wait)
    }

    /// The seconds between two polls if pushes come to all; nil if one long poll follows the other.
    private func pushedInterval(_ members: [FetchMember]) -> Int64? {
        guard let interval = fetcher.pollInterval, members.allSatisfy({ fetcher.tally.works($0.id) }) else {
            return nil
        }
        return interval
    }

    /// Rests, but no longer once someone has come.
    ///
    /// - Parameter wakes: whether it ends also once somebody waits for a request; not within ``leastRest``, so that who
    ///   waits again and again has the issuer asked no more often.
    private func rest(_ seconds: Double, wakes: Bool) async {
        let (notifier, begun) = (roster.notifier(of: group), ports.clock.steady)
        let wanted = wakes ? fetcher.hub.notifier { if case .requestsWanted = $0 { true } else { false } } : nil
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { for await _ in notifier { return } }
            if let wanted {
                tasks.addTask {
                    for await _ in wanted { break }
                    let left = begun + Self.leastRest - ports.clock.steady
                    if left > 0 { _ = try? await ports.clock.sleep(seconds: left) }
                }
            }
            tasks.addTask { _ = try? await ports.clock.sleep(seconds: seconds) }
            await tasks.next()
            tasks.cancelAll()
        }
    }

    /// A suspended one is asked for alone: a batch fetch may leave out one that has recovered.
    private func lookAgain(_ id: EnrollmentID) async throws {
        let next = ports.clock.now + Self.suspendedPause
        roster.with { $0[id]?.suspend(until: next) }
        guard let enrollment = try await ports.store.read({ try $0.enrollment(id) }) else { return }
        do {
            try await fetcher.fetchNow(enrollment)
        } catch  where error is IssuerError || error is CommandError {
            // It has been noted, and is no reason to keep the others waiting.
        }
    }
}

// MARK: Asking

extension FetchLoop {
    /// The issuer's answer; nil if someone came meanwhile for whom nothing was asked, or the clock was advanced.
    ///
    /// The call is given up for a newcomer, whose requests would wait for its end. Nothing is lost by that, since no
    /// cursor has moved. For many newcomers that is done once a second at most. After an advance of the clock it may be
    /// another enrollment's turn.
    private func results(
        for members: [FetchMember], _ call: Call, wait: Int
    ) async throws -> [BatchFetchAnswer.Result]? {
        let notifier = roster.notifier(of: group)
        fetcher.hub.ring(notifier, after: { $0.kind == .clockAdvanced })
        let startedAt = ports.clock.now
        return try await withThrowingTaskGroup(of: [BatchFetchAnswer.Result]?.self) { tasks in
            tasks.addTask { try await ask(for: members, call, wait: wait) }
            tasks.addTask {
                for await _ in notifier { break }
                if ports.clock.now == startedAt { try await ports.clock.sleep(seconds: 1) }
                return nil
            }
            defer { tasks.cancelAll() }
            return try await tasks.next() ?? nil
        }
    }

    private func ask(
        for members: [FetchMember], _ call: Call, wait: Int
    ) async throws(IssuerError) -> [BatchFetchAnswer.Result] {
        guard call.discovery.batchFetchEndpoint == nil else {
            let entries = members.map { member in
                BatchFetchRequest.Entry(
                    authenticatorId: member.authenticatorId, accessToken: member.token, after: member.cursor)
            }
            let request = BatchFetchRequest(wait: wait, entries: entries)
            return try await ports.gateway.batchFetch(call.target, call.discovery, request: request).results
        }
        // Without a batch fetch there is one in a group.
        guard let member = members.first else { return [] }
        return [try await ask(forOne: member, call, wait: wait)]
    }

    private func ask(
        forOne member: FetchMember, _ call: Call, wait: Int
    ) async throws(IssuerError) -> BatchFetchAnswer.Result {
        let access = IssuerAccess(target: call.target, discovery: call.discovery, token: member.token)
        do throws(IssuerError) {
            let list = try await ports.gateway.fetch(access, wait: wait, after: member.cursor)
            return BatchFetchAnswer.Result(authenticatorId: member.authenticatorId, outcome: .list(list))
        } catch {
            guard case .problem(let problem) = error else { throw error }
            return BatchFetchAnswer.Result(authenticatorId: member.authenticatorId, outcome: .problem(problem.code))
        }
    }
}

extension Discovery {
    /// How many enrollments the issuer allows in one fetch.
    fileprivate var fetchSize: Int { batchFetchEndpoint == nil ? 1 : BatchFetchRequest.limit }
}
