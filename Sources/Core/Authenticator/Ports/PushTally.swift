import Records
import Synchronization
import TextAndTime

/// By which way a message came.
package enum ArrivalChannel: Sendable {
    case push, poll
}

/// What is known since start of how messages come to an enrollment.
package struct PushFacts: Sendable, Equatable {
    /// Seconds since 1970; nil if there was none.
    package fileprivate(set) var lastPush: Int64?
    package fileprivate(set) var lastPoll: Int64?
    /// How many messages came first by this way.
    package fileprivate(set) var firstByPush = 0
    package fileprivate(set) var firstByPoll = 0
    /// How many came again by either.
    package fileprivate(set) var duplicates = 0
    /// Pushes that were not taken.
    package fileprivate(set) var refused = 0
    /// The seconds from `iat` to the last message that came first by push.
    package fileprivate(set) var latency: Int64?
    /// Whether pushes come, so that polls need not be frequent.
    package fileprivate(set) var works = false

    fileprivate mutating func count(_ others: PushFacts) {
        firstByPush += others.firstByPush
        firstByPoll += others.firstByPoll
        duplicates += others.duplicates
        refused += others.refused
    }
}

/// Which way messages come by, for each enrollment.
final class PushTally: Sendable {
    /// The seconds by which a push may come later than its request was made.
    static let grace: Int64 = 10

    private let facts = Mutex<[EnrollmentID: PushFacts]>([:])
    /// What was counted of enrollments that are over, as one; only used within the lock of ``facts``.
    private let ended = Mutex(PushFacts())

    func facts(of id: EnrollmentID) -> PushFacts? { facts.withLock { $0[id] } }

    /// Those of each enrollment, and of all that are over as one.
    var all: [PushFacts] { facts.withLock { facts in facts.values + [ended.withLock(\.self)] } }

    /// The enrollment is over: what was counted stays counted.
    func end(_ id: EnrollmentID) {
        facts.withLock { facts in
            guard let known = facts.removeValue(forKey: id) else { return }
            ended.withLock { $0.count(known) }
        }
    }

    func works(_ id: EnrollmentID) -> Bool { facts.withLock { $0[id]?.works == true } }

    /// An issuer's push was taken; true if pushes did not come before.
    func notePush(_ id: EnrollmentID, at now: Int64) -> Bool {
        facts.withLock { facts in
            let isNews = facts[id]?.works != true
            facts[id, default: PushFacts()].lastPush = now
            facts[id, default: PushFacts()].works = true
            return isNews
        }
    }

    func notePoll(_ id: EnrollmentID, at now: Int64) {
        facts.withLock { $0[id, default: PushFacts()].lastPoll = now }
    }

    func noteRefused(_ id: EnrollmentID) {
        facts.withLock { $0[id, default: PushFacts()].refused += 1 }
    }

    func noteAgain(_ id: EnrollmentID) {
        facts.withLock { $0[id, default: PushFacts()].duplicates += 1 }
    }

    /// A message came that was not known; true if that shows that pushes come no longer.
    ///
    /// That is when a poll brings what a push would have brought before.
    func noteNew(_ id: EnrollmentID, by channel: ArrivalChannel, iat: Int64?, at now: Int64) -> Bool {
        facts.withLock { facts in
            var known = facts[id] ?? PushFacts()
            defer { facts[id] = known }
            switch channel {
            case .push:
                known.firstByPush += 1
                known.latency = iat.map { max(now.seconds(since: $0), 0) }
                return false
            case .poll:
                known.firstByPoll += 1
                guard known.works, let iat, now.seconds(since: iat) > Self.grace else { return false }
                known.works = false
                return true
            }
        }
    }
}
