import IssuerProtocol
import Records
import Synchronization
import TextAndTime

/// Messages that cannot be judged yet: their `iat` is ahead, or their key is not known yet.
///
/// In memory, and bounded in messages and in bytes.
final class DeferredMessages: Sendable {
    struct Held: Sendable {
        let enrollmentId: EnrollmentID
        let issuer: IssuerTarget
        let message: String
        /// Whether the issuer listed it.
        let isListed: Bool
        /// When it is read again, seconds since 1970: a wall clock that is put right may come to it sooner.
        let readAgainAt: Int64
        /// The same on the steady clock: a wall clock that is set back does not put it off.
        let readAgainBy: Double
        /// When it is dropped unless it could be judged; on the steady clock, which nobody sets.
        let dropAt: Double

        var bytes: Int { message.utf8.count }

        /// - Parameters:
        ///   - seconds: the time until it is read again.
        ///   - dropAt: nil for ``DeferredMessages/longest`` from now on.
        init(
            _ message: String, for enrollmentId: EnrollmentID, of issuer: IssuerTarget, isListed: Bool,
            readAgainIn seconds: Int64, dropAt: Double? = nil, by clock: any AgentClock
        ) {
            (self.message, self.enrollmentId, self.issuer, self.isListed) = (message, enrollmentId, issuer, isListed)
            readAgainAt = clock.now.later(by: seconds)
            readAgainBy = clock.steady + Double(seconds)
            self.dropAt = dropAt ?? clock.steady + DeferredMessages.longest
        }

        /// The same, to be read again later.
        func held(for seconds: Int64, by clock: any AgentClock, atLeastOnce: Bool) -> Held {
            let dropAt = atLeastOnce ? max(dropAt, clock.steady + Double(seconds)) : dropAt
            return Held(
                message, for: enrollmentId, of: issuer, isListed: isListed, readAgainIn: seconds, dropAt: dropAt,
                by: clock)
        }

        /// Whether it is read again before it is dropped.
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

    /// The seconds for which a message is held at most.
    static let longest: Double = 600

    private let bounds: AgentBounds
    private let state = Mutex(State())

    init(_ bounds: AgentBounds) { self.bounds = bounds }

    /// False if there is no room for it.
    func hold(_ message: Held) -> Bool {
        state.withLock { state in
            let own = state.held[message.issuer]?[message.enrollmentId] ?? []
            if own.contains(where: { $0.message.utf8.elementsEqual(message.message.utf8) }) { return true }
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

    /// Takes out those of an issuer that are to be read again now, at most so many.
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

    /// When the first of an issuer's is to be read again; nil if there is none.
    func nextDeadline(of issuer: IssuerTarget) -> Int64? {
        state.withLock { state in
            state.held[issuer].flatMap { $0.values.joined().lazy.map(\.readAgainAt).min() }
        }
    }

    /// Those of whom something is held.
    var issuers: [IssuerTarget] { state.withLock { Array($0.held.keys) } }

    /// How many there are.
    var count: Int { state.withLock(\.count) }
}
