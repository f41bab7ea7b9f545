import FairSharing
import HTTPServing

/// The places of the control socket, by the user and the process that connected.
///
/// The one goes that has waited longest for its client. One whose call is under way goes only if all are, and then the
/// newest.
typealias ControlPlaces = ConnectionPlaces<Caller.Owner>

extension ConnectionPlaces<Caller.Owner> {
    convenience init(limit: Int, maxUnread: Int = .max) {
        self.init(.init(all: limit), maxUnread: maxUnread) { place in
            place.answeredSince.map { .max - $0 } ?? place.owesSince
        }
    }
}
