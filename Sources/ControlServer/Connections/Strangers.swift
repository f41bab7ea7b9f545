import NIOCore
import Synchronization

/// The connections of users who may not even look: few, short, and in nobody else's place.
final class Strangers: Sendable {
    /// The most at a time; for one more the oldest is cut.
    static let limit = 16
    /// How long one has to ask, so that it can be told why it is refused.
    private static let patience: TimeAmount = .seconds(2)

    private struct Place {
        let id: Int
        let channel: any Channel
        let deadline: Scheduled<Void>
    }

    private struct State {
        var nextID = 0
        /// The oldest first.
        var places: [Place] = []
    }

    private let state = Mutex(State())

    /// Gives a connection a place until it is cut.
    func take(_ channel: any Channel) -> Int {
        let deadline = channel.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
        let (id, oldest): (Int, Place?) = state.withLock { state in
            state.nextID += 1
            state.places.append(Place(id: state.nextID, channel: channel, deadline: deadline))
            return (state.nextID, state.places.count > Self.limit ? state.places.removeFirst() : nil)
        }
        oldest?.deadline.cancel()
        oldest?.channel.close(promise: nil)
        return id
    }

    func leave(_ id: Int) {
        let left: Place? = state.withLock { state in
            state.places.firstIndex { $0.id == id }.map { state.places.remove(at: $0) }
        }
        left?.deadline.cancel()
    }
}
