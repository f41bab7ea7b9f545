import FairSharing
import Synchronization

/// Counts the running calls of one kind, and limits them for each process, for each user and for all.
final class OngoingCalls: Sendable {
    private let refusal: TooManyCallsError
    private let places: Mutex<FairPlaces<Caller.Owner, Bool>>

    /// - Parameters:
    ///   - kept: places beyond `ofAll`, reserved for root and for the agent's own user.
    ///   - refusal: the error for one call too many. The default gives the limits.
    init(
        ofProcess: Int = 16, ofUser: Int = 64, ofAll: Int = 256, kept: Int = 64, refusal: TooManyCallsError? = nil
    ) {
        self.refusal =
            refusal
            ?? TooManyCallsError(
                "\(ofProcess) such calls of this process, \(ofUser) of this user, or \(ofAll) of all, are under way",
                seconds: 5)
        places = Mutex(FairPlaces(.init(all: ofAll + kept, kept: kept, ofOwner: [ofUser, ofProcess])))
    }

    func withPlace<Value>(for caller: Caller, _ body: () async throws -> Value) async throws -> Value {
        try await withPlace(for: caller.peer, isFavoured: caller.isFavoured, body)
    }

    /// - Parameter isFavoured: whether the peer is root or the agent's own user, for whom places are reserved.
    /// - Throws: ``TooManyCallsError`` if there are too many already, and what `body` throws.
    func withPlace<Value>(
        for peer: Caller.Peer, isFavoured: Bool, _ body: () async throws -> Value
    ) async throws -> Value {
        let place = places.withLock { $0.admit(true, of: peer.owners, isFavoured: isFavoured) }
        guard let place else { throw refusal }
        defer { places.withLock { _ = $0.leave(place) } }
        return try await body()
    }
}
