import IssuerProtocol
import Journal
import Logging
import Records
import StoreTables

/// Fetches requests by long polls.
///
/// One poll serves up to 1,000 enrollments of an issuer that has a batch fetch, else one enrollment.
struct Fetcher: Sendable {
    let ports: Ports
    let directory: IssuerDirectory
    let intake: Intake
    let hub: EventHub
    let health: IssuerHealth
    let standing: IssuerStanding
    let tally: PushTally
    /// The seconds between two polls while pushes work.
    ///
    /// `nil` if the agent receives no pushes.
    let pollInterval: Int64?
    let longPolls: LongPolls
    /// Enrollments that issuers' pushes have named.
    let pushHints: PendingKeys<EnrollmentID>
    let log: Logger

    /// Works until the task is cancelled.
    func run() async throws {
        let roster = SharedFetchGroups()
        let pendingKeys = hub.pendingKeys { event in
            if case .found(.standings(let found)) = event { return found.filter { isNews($0, to: roster) }.map(\.id) }
            return event.enrollment(if: \.changesStanding).map { [$0] } ?? []
        }
        let shares = hub.sharesNotifier()
        try await placeAll(in: roster)
        await withDiscardingTaskGroup { tasks in
            tasks.addTask {
                for await _ in shares { await self.shareAgain(roster) }
            }
            tasks.addTask {
                for await _ in pendingKeys.notifier { await follow(pendingKeys.takeAll(), in: roster) }
            }
            for await group in roster.newGroups {
                tasks.addTask { await FetchLoop(fetcher: self, sharedGroups: roster, group: group).run() }
            }
        }
    }

    /// Adds all enrollments of this host's share to the roster, and removes the others.
    private func placeAll(in roster: SharedFetchGroups) async throws {
        var found: [Placing] = []
        for try await page in EnrollmentPages(ports: ports) {
            // Enrollments that were suspended before the start are tried now.
            found += page.map { placing($0, suspendedUntil: .min) }
        }
        place(found, in: roster)
    }

    private func shareAgain(_ roster: SharedFetchGroups) async {
        await untilLookedUp { try await placeAll(in: roster) }
    }

    /// Returns whether the roster differs from the store for this enrollment.
    private func isNews(_ standing: EnrollmentStanding, to roster: SharedFetchGroups) -> Bool {
        let isSuspended = ports.isOurs(standing.id) ? standing.isSuspended : nil
        return roster.with { $0[standing.id]?.isSuspended } != isSuspended
    }

    /// Updates the roster from the store.
    private func follow(_ ids: Set<EnrollmentID>, in roster: SharedFetchGroups) async {
        var waiting = Array(ids)[...]
        while !waiting.isEmpty, !Task.isCancelled {
            let page = waiting.prefix(EnrollmentPages.size)
            waiting = waiting.dropFirst(EnrollmentPages.size)
            await untilLookedUp {
                let enrollments = try await ports.patiently {
                    try await ports.store.read { store in try page.compactMap { try store.enrollment($0) } }
                }
                let next = ports.clock.now + FetchLoop.suspendedPause
                place(enrollments.map { placing($0, suspendedUntil: next) }, in: roster)
            }
        }
    }

    /// Reads enrollments, and tries again until that succeeds.
    private func untilLookedUp(_ look: () async throws -> Void) async {
        while !Task.isCancelled {
            do {
                return try await look()
            } catch is CancellationError {
                return
            } catch {
                log.error("enrollments could not be looked up", metadata: ["reason": "\(error)"])
                guard (try? await ports.clock.sleep(seconds: 5)) != nil else { return }
            }
        }
    }

    /// The change of an enrollment in the roster.
    private enum Placing: Sendable {
        case member(FetchMember, of: IssuerTarget)
        case none(EnrollmentID)
        /// Its token cannot be opened, so the roster keeps its entry.
        case unchanged
    }

    private func placing(_ enrollment: Enrollment, suspendedUntil: Int64) -> Placing {
        guard let membership = enrollment.membership, ports.isOurs(enrollment.id) else {
            return .none(enrollment.id)
        }
        return member(enrollment, membership, suspendedUntil: suspendedUntil)
            .map { .member($0, of: enrollment.target) } ?? .unchanged
    }

    /// Changes the roster in one step, so that the first call already has all enrollments.
    private func place(_ all: [Placing], in roster: SharedFetchGroups) {
        roster.with { groups in
            for placing in all {
                switch placing {
                case .member(let member, let target): groups.place(member, of: target)
                case .none(let id): groups.remove(id)
                case .unchanged: break
                }
            }
        }
    }

    /// Makes the enrollment's roster member.
    ///
    /// `nil` if its token cannot be opened. A token opens only under the secret that it was sealed under.
    private func member(
        _ enrollment: Enrollment, _ membership: Membership, suspendedUntil: Int64
    ) -> FetchMember? {
        do {
            var isSuspended = false
            if case .suspended = enrollment.state { isSuspended = true }
            return FetchMember(
                id: enrollment.id, authenticatorId: membership.authenticatorId,
                token: try ports.sealing.open(membership.sealedToken, for: enrollment.id),
                suspendedUntil: isSuspended ? suspendedUntil : nil)
        } catch {
            // Each periodic look tries again, so this is logged once.
            let isNews = health.record(
                enrollment.id, trouble: "its access token cannot be opened", cause: .key, at: ports.clock.now)
            if isNews {
                log.error("an access token cannot be opened", metadata: enrollment.logged(["reason": "\(error)"]))
            }
            return nil
        }
    }

    static let maxPages = 100

    /// Fetches all listed requests of one enrollment, in up to a hundred full answers.
    ///
    /// - Parameter channel: `.push` if a push caused the fetch.
    /// - Throws: `IssuerError`, or `CommandError` if the enrollment's row is damaged. Both are logged and reported in
    ///   health. The store's errors are passed on.
    func fetchNow(_ enrollment: Enrollment, by channel: ArrivalChannel = .poll) async throws {
        guard let membership = enrollment.membership else { return }
        do {
            let access = IssuerAccess(
                target: enrollment.target, discovery: try await directory.discovery(enrollment.target),
                token: try ports.sealing.open(membership.sealedToken, for: enrollment.id))
            var cursor: String?
            for _ in 0..<Self.maxPages {
                let list = try await ports.gateway.fetch(access, wait: 0, after: cursor)
                try await keep(list, for: enrollment, by: channel)
                guard list.requests.count == RequestList.limit else { return }
                cursor = list.cursor
            }
        } catch let failure as IssuerError {
            // A call that failed because the agent stops is not a failure of the issuer.
            try Task.checkCancellation()
            if case .problem(let problem) = failure, problem.code == .invalidToken {
                try await setKnown(false, enrollment)
            } else {
                noteFailure(failure.reason, of: [enrollment.id], at: enrollment.target)
            }
            throw failure
        } catch let damage as CommandError {
            noteFailure(damage.message, of: [enrollment.id], at: enrollment.target)
            throw damage
        }
    }

    /// Stores, defers or drops each message of a list.
    ///
    /// The cursor may move after this returns. Returns true if a message was not in the store before. Throws as
    /// ``Intake/receive(_:for:by:heldUntil:isListed:)``.
    @discardableResult
    func keep(_ list: RequestList, for enrollment: Enrollment, by channel: ArrivalChannel = .poll) async throws -> Bool
    {
        try await setKnown(true, enrollment)
        // Without pushes, the channel of arrival is not counted.
        if channel == .poll, pollInterval != nil { tally.notePoll(enrollment.id, at: ports.clock.now) }
        let isNew = try await intake.receive(list.requests, for: enrollment, by: channel)
        health.record(enrollment.id, trouble: nil, at: ports.clock.now)
        return isNew
    }

    /// Records whether the issuer knows the token.
    ///
    /// Writes only if that has changed.
    func setKnown(_ isKnown: Bool, _ enrollment: Enrollment) async throws {
        let transition: EnrollmentTransition = isKnown ? .resumed : .suspended
        guard transition.applied(to: enrollment) != nil else { return }
        let isNews = try await ports.store.write { [standing] store in
            try standing.record(isKnown: isKnown, enrollment.id, at: ports.clock.now, in: store)
        }
        if isNews { standing.report(isKnown: isKnown, enrollment) }
    }

    /// Reports in health why requests cannot be fetched, with one log line for all newly affected enrollments.
    func noteFailure(_ reason: String, of ids: [EnrollmentID], at target: IssuerTarget) {
        let now = ports.clock.now
        let news = ids.filter { health.record($0, trouble: reason, at: now) }
        guard let first = news.first else { return }
        var metadata: Logger.Metadata = ["issuer": "\(target.issuer.text)", "reason": "\(reason)"]
        if news.count == 1 {
            metadata["enrollment"] = "\(first)"
        } else {
            metadata["enrollments"] = "\(news.count)"
        }
        log.warning("requests cannot be fetched", metadata: metadata)
    }
}
