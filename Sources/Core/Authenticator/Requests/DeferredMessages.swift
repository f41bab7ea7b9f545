import IssuerProtocol
import Records
import Synchronization
import TextAndTime

/// Messages that cannot be verified yet, because their `iat` is ahead or their key is unknown.
///
/// They are in memory, bounded in messages and in bytes.
final class DeferredMessages: Sendable {
    struct Held: Sendable {
        let enrollmentId: EnrollmentID
        let issuer: IssuerTarget
        let message: String
        /// Whether an answer of the issuer listed it.
        fileprivate(set) var isListed: Bool
        /// The wall-clock time of the next try, in seconds since 1970.
        ///
        /// A wall clock that is corrected may reach it sooner.
        let readAgainAt: Int64
        /// The latest time of the next try, on the steady clock.
        ///
        /// A wall clock that is set back does not delay it.
        let readAgainBy: Double
        /// The time at which it is dropped if it cannot be verified, on the steady clock, which cannot be set.
        let dropAt: Double

        var bytes: Int { message.utf8.count }

        /// - Parameters:
        ///   - seconds: the time until the next try.
        ///   - dropAt: the time of its drop. `nil` for ``DeferredMessages/longest`` from now.
        init(
            _ message: String, for enrollmentId: EnrollmentID, of issuer: IssuerTarget, isListed: Bool,
            readAgainIn seconds: Int64, dropAt: Double? = nil, by clock: any AgentClock
        ) {
            (self.message, self.enrollmentId, self.issuer, self.isListed) = (message, enrollmentId, issuer, isListed)
            readAgainAt = clock.now.later(by: seconds)
            readAgainBy = clock.steady + Double(seconds)
            self.dropAt = dropAt ?? clock.steady + DeferredMessages.longest
        }

        /// Returns a copy with a later next try.
        func held(for seconds: Int64, by clock: any AgentClock, atLeastOnce: Bool) -> Held {
            let dropAt = atLeastOnce ? max(dropAt, clock.steady + Double(seconds)) : dropAt
            return Held(
                message, for: enrollmentId, of: issuer, isListed: isListed, readAgainIn: seconds, dropAt: dropAt,
                by: clock)
        }

        /// Whether its next try comes before its drop.
        var isReadAgain: Bool { readAgainBy <= dropAt }

        fileprivate func isDue(by clock: any AgentClock) -> Bool {
            readAgainAt <= clock.now || readAgainBy <= clock.steady
        }
    }

    private struct State {
        var held: [IssuerTarget: [EnrollmentID: [Held]]] = [:]
        var count = 0
        var bytes = 0
    }

    /// The longest time for which a message is deferred, in seconds.
    static let longest: Double = 600

    private let bounds: AgentBounds
    private let state = Mutex(State())

    init(_ bounds: AgentBounds) { self.bounds = bounds }

    /// Adds a message, and returns false if it has no room.
    func add(_ message: Held) -> Bool {
        state.withLock { state in
            let own = state.held[message.issuer]?[message.enrollmentId] ?? []
            if let known = own.firstIndex(where: { $0.message.utf8.elementsEqual(message.message.utf8) }) {
                // A push, which anyone can send, may have brought it before the issuer listed it.
                if message.isListed { state.held[message.issuer]?[message.enrollmentId]?[known].isListed = true }
                return true
            }
            guard state.count < bounds.held, own.count < bounds.heldOfEnrollment,
                state.bytes + message.bytes <= bounds.heldBytes,
                own.reduce(message.bytes, { $0 + $1.bytes }) <= bounds.heldBytesOfEnrollment
            else { return false }
            state.held[message.issuer, default: [:]][message.enrollmentId, default: []].append(message)
            state.count += 1
            state.bytes += message.bytes
            return true
        }
    }

    /// Removes and returns an issuer's due messages, at most `limit`.
    func takeDue(of issuer: IssuerTarget, by clock: any AgentClock, limit: Int = .max) -> [Held] {
        state.withLock { state in
            var due: [Held] = []
            for (id, own) in state.held[issuer] ?? [:] {
                let left = own.filter { held in
                    guard held.isDue(by: clock), due.count < limit else { return true }
                    due.append(held)
                    return false
                }
                state.held[issuer]?[id] = left.isEmpty ? nil : left
            }
            if state.held[issuer]?.isEmpty == true { state.held[issuer] = nil }
            state.count -= due.count
            state.bytes -= due.reduce(0) { $0 + $1.bytes }
            return due
        }
    }

    /// Returns the earliest time of a next try among an issuer's messages, in seconds since 1970 by the wall clock.
    ///
    /// `nil` if none of its messages is deferred.
    func nextDeadline(of issuer: IssuerTarget) -> Int64? {
        state.withLock { state in
            state.held[issuer].flatMap { $0.values.joined().lazy.map(\.readAgainAt).min() }
        }
    }

    /// The issuers of all deferred messages.
    var issuers: [IssuerTarget] { state.withLock { Array($0.held.keys) } }

    /// The number of deferred messages.
    var count: Int { state.withLock(\.count) }
}
