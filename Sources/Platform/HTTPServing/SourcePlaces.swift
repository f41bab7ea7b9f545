import FairSharing

/// The connections of one port, counted per network and host of the client.
///
/// A host has at most a quarter of the places. If there are too many connections, one is closed: of that host, or else
/// of the busiest network, and in it of the busiest host. There, the client that has owed a whole request for the
/// longest comes first, and a connection that is being answered last. Half of the places are kept for connections on
/// which a good request came.
package typealias SourcePlaces = ConnectionPlaces<Source>

extension ConnectionPlaces<Source> {
    /// The connections that are accepted beyond the limit while others close.
    ///
    /// More wait in the backlog.
    static let spare = 16

    /// - Parameter isBehindProxy: whether all clients connect through a proxy. Then no host has a bound of its own.
    package convenience init(limit: Int, isBehindProxy: Bool = false) {
        self.init(
            .init(all: limit, kept: limit / 2, ofOwner: isBehindProxy ? [] : [nil, nil, max(limit / 4, 1)])
        ) { place in place.owesSince + (place.answeredSince == nil ? 0 : .max / 2) }
    }
}
