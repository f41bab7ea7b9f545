import FairSharing

/// The places of a port, by the address that its connections come from.
///
/// The first connection to be closed is the one whose client has owed a whole request for the longest. A connection
/// that is being answered is closed last. Half of the places are kept for connections on which a good request came.
package typealias SourcePlaces = ConnectionPlaces<Source>

extension ConnectionPlaces<Source> {
    /// The connections that are accepted before others are closed for them; more wait in the backlog.
    static let spare = 16

    /// - Parameter isBehindProxy: whether all clients connect through a proxy. Then no address has a bound of its own.
    package convenience init(limit: Int, isBehindProxy: Bool = false) {
        self.init(
            .init(all: limit, kept: limit / 2, ofOwner: isBehindProxy ? [] : [nil, nil, max(limit / 4, 1)])
        ) { place in place.owesSince + (place.answeredSince == nil ? 0 : .max / 2) }
    }
}
