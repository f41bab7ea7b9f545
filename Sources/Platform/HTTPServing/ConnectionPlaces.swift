package import FairSharing
import NIOCore
import Synchronization

/// The open connections of a server, each in its place, and what became of those that were cut.
///
/// A newcomer is taken, and another goes for it if there are too many: of the owner with most, the lowest by `rank`. So
/// whoever opens too many pushes out nobody else's.
package final class ConnectionPlaces<Owner: Hashable & Sendable>: Sendable {
    package typealias ID = FairPlaces<Owner, Place>.ID

    /// A connection's place.
    package struct Place: Sendable {
        /// The innermost owner.
        package let owner: Owner?
        /// When its client began to owe a request, or to read an answer: a number that grows.
        package fileprivate(set) var owesSince: Int
        /// When the server began to answer a whole request; `nil` while the client owes something.
        package fileprivate(set) var answeredSince: Int?
        /// The bytes of the last answer, which the client may not have read yet.
        fileprivate var unread = 0
        fileprivate let cut: @Sendable () -> Void
    }

    /// The number of connections, and of those that were closed from this side since the start.
    package struct Figures: Sendable, Equatable {
        package var open = 0
        /// Newcomers for whom nobody could go.
        package var refused = 0
        /// Connections that were closed to make a place for another.
        package var crowded = 0
        /// Connections that were closed because the client took too long.
        package var slow = 0
    }

    private struct State {
        var places: FairPlaces<Owner, Place>
        var figures = Figures()
        var moment = 0
        /// The bytes that all clients together leave unread.
        var unread = 0

        mutating func nextMoment() -> Int {
            moment += 1
            return moment
        }
    }

    /// The most connections at a time.
    package let limit: Int
    private let maxUnread: Int
    private let rank: @Sendable (Place) -> Int
    private let state: Mutex<State>

    /// - Parameters:
    ///   - maxUnread: bytes of answers that clients leave unread, all together.
    ///   - rank: the lowest goes first.
    package init(
        _ bounds: FairPlaces<Owner, Place>.Bounds, maxUnread: Int = .max, rank: @escaping @Sendable (Place) -> Int
    ) {
        limit = bounds.all
        self.maxUnread = maxUnread
        self.rank = rank
        state = Mutex(State(places: FairPlaces(bounds)))
    }

    package var figures: Figures {
        state.withLock { state in
            var figures = state.figures
            figures.open = state.places.count
            return figures
        }
    }

    /// Gives a connection a place, and cuts another one if there is none left.
    ///
    /// - Parameters:
    ///   - owners: the outermost first.
    ///   - cut: closes the connection; called at most once, and not while this is locked.
    /// - Returns: the other may be the same one.
    @discardableResult
    package func enter(
        _ owners: [Owner], cut: @escaping @Sendable () -> Void
    ) -> (entered: ID, leaving: (id: ID, member: Place)?) {
        let (id, leaving) = state.withLock { state in
            let place = Place(owner: owners.last, owesSince: state.nextMoment(), cut: cut)
            let (id, leaving) = state.places.enter(place, of: owners, rank: rank)
            guard let leaving else { return (id, leaving) }
            state.unread -= leaving.member.unread
            if leaving.id == id { state.figures.refused += 1 } else { state.figures.crowded += 1 }
            return (id, leaving)
        }
        leaving?.member.cut()
        return (id, leaving)
    }

    package func leave(_ id: ID) {
        state.withLock { state in state.unread -= state.places.leave(id)?.unread ?? 0 }
    }

    /// Notes that a client has sent a whole request, and so has read the last answer.
    package func beginsAnswer(to id: ID) {
        state.withLock { state in
            let moment = state.nextMoment()
            state.places.update(id) { place in
                state.unread -= place.unread
                (place.answeredSince, place.unread) = (moment, 0)
            }
        }
    }

    /// Notes that a client owes the next request, from now on if the last one was good; then it is favoured.
    package func owes(_ id: ID, wasGood: Bool) {
        state.withLock { state in
            let moment = state.nextMoment()
            state.places.update(id) { place in
                place.answeredSince = nil
                if wasGood { place.owesSince = moment }
            }
            if wasGood { state.places.favour(id) }
        }
    }

    /// Notes that a client has to say something from now on, or to read an answer of so many bytes.
    ///
    /// - Returns: connections that were cut, since too much is left unread.
    @discardableResult
    package func waits(_ id: ID, unread: Int = 0) -> [ID] {
        let leaving = state.withLock { state in
            let moment = state.nextMoment()
            state.places.update(id) { place in
                state.unread += unread - place.unread
                (place.owesSince, place.answeredSince, place.unread) = (moment, nil, unread)
            }
            var leaving: [(id: ID, member: Place)] = []
            while state.unread > maxUnread, let next = state.places.removeNext(where: { $0.unread > 0 }, rank: rank) {
                state.unread -= next.member.unread
                leaving.append(next)
            }
            return leaving
        }
        for place in leaving { place.member.cut() }
        // Not by a key path, which is made anew at each call in a type of any owner.
        return leaving.map { $0.id }
    }

    func noteSlow() { state.withLock { $0.figures.slow += 1 } }
}
