import FairSharing
import HTTPServing

/// The places of the control socket, by the user and the process of the peer.
///
/// The connection that has waited longest for its client is cut first. A connection with a call in progress is cut
/// only if all have calls, and then the newest is.
typealias ControlPlaces = ConnectionPlaces<Caller.Owner>

extension ConnectionPlaces<Caller.Owner> {
    convenience init(limit: Int, maxUnread: Int = .max) {
        self.init(.init(all: limit), maxUnread: maxUnread) { place in
            place.answeredSince.map { .max - $0 } ?? place.owesSince
        }
    }
}
