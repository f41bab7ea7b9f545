import FairSharing
import HTTPServing

/// The places of the control socket, by the user and the process of the peer.
///
/// The client that is late for longest loses its place first. A client with a call in progress loses it only if all
/// have calls, and then the newest does.
typealias ControlPlaces = ConnectionPlaces<Caller.Owner>

extension ConnectionPlaces<Caller.Owner> {
    convenience init(limit: Int, maxUnread: Int = .max) {
        self.init(.init(all: limit), maxUnread: maxUnread) { place in
            place.answeredSince.map { .max - $0 } ?? place.owesSince
        }
    }
}
