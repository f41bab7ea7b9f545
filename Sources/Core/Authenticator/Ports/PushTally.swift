import Records
import Synchronization
import TextAndTime

/// Channel by which a message came.
package enum ArrivalChannel: Sendable {
    case push, poll
}

/// Counts and times of an enrollment's messages by channel, since the start.
package struct PushFacts: Sendable, Equatable {
    /// The time of the last push, in seconds since 1970.
    ///
    /// `nil` if there was none.
    package fileprivate(set) var lastPush: Int64?
    package fileprivate(set) var lastPoll: Int64?
    /// The number of messages that came by push first.
    package fileprivate(set) var firstByPush = 0
    package fileprivate(set) var firstByPoll = 0
    /// The number of messages that came again by either channel.
    package fileprivate(set) var duplicates = 0
    /// The number of refused pushes.
    package fileprivate(set) var refused = 0
    /// The seconds from `iat` to the last message that came first by push.
    package fileprivate(set) var latency: Int64?
    /// Whether pushes arrive, so that polls need not be frequent.
    package fileprivate(set) var works = false

    fileprivate mutating func count(_ others: PushFacts) {
        firstByPush += others.firstByPush
        firstByPoll += others.firstByPoll
        duplicates += others.duplicates
        refused += others.refused
    }
}

/// Tally of the channels by which each enrollment's messages come.
final class PushTally: Sendable {
    /// The seconds by which a push may arrive after its request's `iat`.
    static let grace: Int64 = 10

    private let facts = Mutex<[EnrollmentID: PushFacts]>([:])
    /// The sum of the counts of ended enrollments.
    ///
    /// Only used within the lock of ``facts``.
    private let ended = Mutex(PushFacts())

    func facts(of id: EnrollmentID) -> PushFacts? { facts.withLock { $0[id] } }

    /// The facts of each enrollment, and the sum of all ended ones.
    var all: [PushFacts] { facts.withLock { facts in facts.values + [ended.withLock(\.self)] } }

    /// Ends the tally of an enrollment, whose counts stay in the sum.
    func close(_ id: EnrollmentID) {
        facts.withLock { facts in
            guard let known = facts.removeValue(forKey: id) else { return }
            ended.withLock { $0.count(known) }
        }
    }

    func works(_ id: EnrollmentID) -> Bool { facts.withLock { $0[id]?.works == true } }

    /// Counts an accepted push.
    ///
    /// Returns true if pushes did not work before.
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

    /// Counts a new message.
    ///
    /// Returns true if it shows that pushes have stopped. That is the case if a poll brings a message that a push would
    /// have brought before.
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
