package import FairSharing
import NIOCore
import Synchronization

/// The open connections of a server, each in its place, and the numbers of connections that it closed.
///
/// A newcomer is admitted. If there are then too many, one connection is closed: of the owner with the most, the lowest
/// by `rank`. A client that opens too many therefore closes no other client's connection.
package final class ConnectionPlaces<Owner: Hashable & Sendable>: Sendable {
    package typealias ID = FairPlaces<Owner, Place>.ID

    /// The place of a connection.
    package struct Place: Sendable {
        /// The innermost owner.
        package let owner: Owner?
        /// The moment at which the client began to owe a request or to read an answer: a growing number.
        package fileprivate(set) var owesSince: Int
        /// The moment at which the server began to answer a request, or `nil` while the client owes something.
        package fileprivate(set) var answeredSince: Int?
        /// The bytes of the last answer, which the client may not have read yet.
        fileprivate var unread = 0
        fileprivate let cut: @Sendable () -> Void
    }

    /// The number of open connections, and of connections that this side closed since the start.
    package struct Figures: Sendable, Equatable {
        package var open = 0
        /// Newcomers that were closed because no other connection could be closed.
        package var refused = 0
        /// Connections that were closed to make room for another.
        package var crowded = 0
        /// Connections that were closed because the client took too long.
        package var slow = 0
    }

    private struct State {
        var places: FairPlaces<Owner, Place>
        var figures = Figures()
        var moment = 0
        /// The bytes of answers that all clients together have not read.
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
    ///   - maxUnread: the most bytes of unread answers, of all clients together.
    ///   - rank: the lowest is closed first.
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

    /// Gives a connection a place, and closes another connection if there are too many.
    ///
    /// - Parameters:
    ///   - owners: the outermost first.
    ///   - cut: closes the connection. It is called at most once, and not while the state is locked.
    /// - Returns: the new place, and the place that was freed. Both may be the same.
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

    /// Records that a client has sent a whole request, and so has read the last answer.
    package func beginsAnswer(to id: ID) {
        state.withLock { state in
            let moment = state.nextMoment()
            state.places.update(id) { place in
                state.unread -= place.unread
                (place.answeredSince, place.unread) = (moment, 0)
            }
        }
    }

    /// Records that a client owes the next request.
    ///
    /// If the last request was good, the client owes the next one from now on and is favoured.
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

    /// Records that a client must send bytes from now on, or read an answer of `unread` bytes.
    ///
    /// - Returns: the connections that were closed because too many bytes are unread.
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
        // A closure, because a generic type creates a key path anew at each call.
        return leaving.map { $0.id }
    }

    func noteSlow() { state.withLock { $0.figures.slow += 1 } }
}
