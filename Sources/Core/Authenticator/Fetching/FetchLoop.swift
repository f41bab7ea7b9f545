import IssuerProtocol
import Journal
import Logging
import Records
import StoreTables
import TextAndTime

/// Fetches for one group of enrollments until the group ends, with one call at a time.
struct FetchLoop: Sendable {
    let fetcher: Fetcher
    let sharedGroups: SharedFetchGroups
    let group: FetchGroups.ID

    /// The seconds after which a suspended enrollment is tried again.
    static let suspendedPause: Int64 = 3_600
    /// The longest wait of a long poll, in seconds.
    static let longestWait: Int64 = 50
    /// The shortest time, in seconds, after which an early end of a long poll counts as a cut.
    ///
    /// Then a device between the agent and the issuer has cut the connection.
    static let leastHeld: Double = 5
    /// The shortest pause after a failure, in seconds, even if a client waits for a request.
    static let leastRest: Double = 2
    /// The seconds for which polls stay shorter after a cut.
    static let cutPause: Double = 3_600

    var ports: Ports { fetcher.ports }
    private var log: Logger { fetcher.log }

    func run() async {
        var backoff = Backoff(first: 1, limit: 300)
        var known = 0
        var cut = Cut()
        var seat: LongPolls.Seat?
        let issuer = sharedGroups.with { $0.target(of: group) }?.issuer
        defer {
            sharedGroups.removeNotifier(of: group)
            issuer.map { fetcher.health.notePause(of: group, at: $0, until: nil) }
        }
        while !Task.isCancelled, let target = sharedGroups.with({ $0.target(of: group) }) {
            var pause: Double?
            var wakes = false
            var place = seat ?? fetcher.longPolls.seat(for: target.issuer)
            defer { seat = place }
            do {
                let discovery = try await fetcher.directory.discovery(target)
                let now = ports.clock.now
                guard let turn = sharedGroups.with({ $0.turn(of: group, size: discovery.fetchSize, now: now) }) else {
                    return
                }
                for id in turn.suspended { try await lookAgain(id) }
                pause = try await poll(
                    turn, calling: Call(target: target, discovery: discovery), known: &known, cut: &cut, place: &place)
                backoff.reset()
                fetcher.health.notePause(of: group, at: target.issuer, until: nil)
            } catch is StoreError {
                // No cursor has moved past a message that is not in the store, so the issuer sends it again.
                guard (try? await ports.storeHealth.untilWell()) != nil else { return }
            } catch {
                // A call that failed because the agent stops is not a failure of the issuer.
                guard !Task.isCancelled else { return }
                let failure = error as? IssuerError
                fetcher.noteFailure(
                    failure?.reason ?? "\(error)", of: sharedGroups.with { $0.members(of: group) }, at: target)
                // A server's Retry-After is obeyed. Without it, a client that waits for a request may end the pause
                // early.
                wakes = failure?.retryAfter == nil
                pause = try? backoff.next(retryAfter: failure?.retryAfter, entropy: ports.entropy)
                let until = pause.map { ports.clock.now + Int64($0.rounded(.up)) }
                fetcher.health.notePause(of: group, at: target.issuer, until: until)
            }
            // A loop that rests for long gives up its place among the long polls.
            if let pause, pause > Self.leastHeld { place.leaveIfHeld() }
            if let pause { await rest(pause, wakes: wakes) }
        }
    }

    /// The state after a device between the agent and the issuer has cut a poll.
    private struct Cut {
        /// The longest wait to ask for, in seconds.
        var longest = FetchLoop.longestWait
        /// The end of the shorter polls, on the steady clock.
        var until: Double = 0
    }

    /// The issuer to call.
    private struct Call: Sendable {
        let target: IssuerTarget
        let discovery: Discovery
    }

    /// Polls once for the members of the turn.
    ///
    /// Returns the seconds to rest before the next turn.
    ///
    /// - Parameter known: the number of answers in a row that brought only known messages.
    /// - Parameter cut: the state after a cut poll. Changed if this poll is cut.
    /// - Parameter place: the loop's place among the long polls. It is handed on after a long poll.
    private func poll(
        _ turn: FetchGroups.Turn, calling call: Call, known: inout Int, cut: inout Cut, place: inout LongPolls.Seat
    ) async throws -> Double? {
        let startedAt = ports.clock.now
        let untilNext = (turn.nextAt ?? .max).seconds(since: startedAt)
        // The suspended enrollments that were tried have a new pause.
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
            // A cut counts as an empty answer. Shorter polls end before the cut.
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
        // Without this limit, an issuer that answers at once with an empty list, or with the same list under new
        // cursors, would be polled without a pause.
        let mayHaveMore = gain.isNews && known < Fetcher.maxPages
        // The answer may have shown that pushes have stopped.
        if !mayHaveMore, interval != nil, let rest = pushedInterval(turn.members) {
            return Double(min(max(untilNext, 1), rest))
        }
        if !mayHaveMore, interval == nil, !isHeld { return min(LongPolls.pause, Double(max(untilNext, 1))) }
        return mayHaveMore || ports.clock.now > startedAt ? nil : 1
    }

    /// Returns whether a device between the agent and the issuer has cut a long poll.
    ///
    /// A cut poll was held, but ended before its time. An answer of a busy server is not a cut.
    static func isCut(_ failure: IssuerError, after held: Double, of wait: Int) -> Bool {
        guard case .transient(_, retryAfter: nil) = failure, !Task.isCancelled else { return false }
        return held >= leastHeld && held < Double(wait)
    }

    /// The seconds between two polls, if pushes work for all members.
    ///
    /// `nil` if the loop uses long polls.
    private func pushedInterval(_ members: [FetchMember]) -> Int64? {
        guard let interval = fetcher.pollInterval, members.allSatisfy({ fetcher.tally.works($0.id) }) else {
            return nil
        }
        return interval
    }

    /// Rests for `seconds`, or until an enrollment joins the group.
    ///
    /// - Parameter wakes: whether a client that waits for a request ends the rest too, but not before ``leastRest``. So
    ///   a client that waits again and again does not make the agent call the issuer more often.
    private func rest(_ seconds: Double, wakes: Bool) async {
        let (notifier, begun) = (sharedGroups.notifier(of: group), ports.clock.steady)
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

    /// Fetches for a suspended enrollment alone: a batch fetch may omit an enrollment that has recovered.
    private func lookAgain(_ id: EnrollmentID) async throws {
        let next = ports.clock.now + Self.suspendedPause
        sharedGroups.with { $0[id]?.suspend(until: next) }
        guard let enrollment = try await ports.store.read({ try $0.enrollment(id) }) else { return }
        do {
            try await fetcher.fetchNow(enrollment)
        } catch  where error is IssuerError || error is CommandError {
            // ``Fetcher/fetchNow(_:by:)`` has logged it. The other enrollments must not wait for it.
        }
    }
}

// MARK: Asking

extension FetchLoop {
    /// The issuer's answer.
    ///
    /// `nil` if an enrollment has joined the group meanwhile, or the clock was advanced. The call is abandoned for a
    /// new enrollment, whose requests would otherwise wait for the end of the call. No message is lost, because no
    /// cursor has moved. Many new enrollments abandon one call a second at most. After an advance of the clock, another
    /// enrollment may be due.
    private func results(
        for members: [FetchMember], _ call: Call, wait: Int
    ) async throws -> [BatchFetchAnswer.Result]? {
        let notifier = sharedGroups.notifier(of: group)
        fetcher.hub.wake(notifier, after: { $0.kind == .clockAdvanced })
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
        // Without a batch fetch, a group has one member.
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
    /// The most enrollments in one fetch.
    fileprivate var fetchSize: Int { batchFetchEndpoint == nil ? 1 : BatchFetchRequest.limit }
}
