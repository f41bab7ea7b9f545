import IssuerProtocol
import Journal
import Records
import StoreTables

extension RequestAdmission {
    /// Cancels the request whose present message has the jti that the cancellation names.
    ///
    /// A cancellation that names a replaced message changes no request. If it is admitted, a cancellation is stored in
    /// any case, for a message that comes later.
    func takeBack(by cancellation: Cancellation, in store: StoreTransaction) throws -> Outcome {
        guard cancellation.exp > now else { return .known }
        if let seen = try store.message(enrollment: enrollment.id, jti: cancellation.jti) {
            return try receiveAgain(seen, digest: cancellation.payloadDigest, in: store)
        }
        switch Earliness(of: cancellation.iat, at: now) {
        case .inTime: break
        case .early(let seconds): return .early(secondsAhead: seconds)
        case .tooEarly(let seconds): return .tooEarly(secondsAhead: seconds)
        }
        try store.removeCancellations(until: provenNow)
        // These bounds are higher than those for requests, so that each stored request can still be cancelled.
        let tally = try tally(in: store)
        guard try store.cancellationCount(enrollment: enrollment.id, after: now) < bounds.cancellations,
            tally.messages < 2 * bounds.messagesADay
        else { return .overQuota }
        guard bounds.hasRoom(beside: tally, eighthsMore: 2) else { return .noRoom }
        let message = SeenMessage(
            enrollmentId: enrollment.id, jti: cancellation.jti, payloadDigest: cancellation.payloadDigest,
            requestId: nil, seenAt: receivedAt)
        try store.insert(message)
        try store.record(.received(message, cancels: cancellation.cancels), at: now)
        try store.insert(
            RememberedCancellation(
                enrollmentId: enrollment.id, cancels: cancellation.cancels, until: cancellation.exp))
        guard let seen = try store.message(enrollment: enrollment.id, jti: cancellation.cancels),
            let id = seen.requestId, var request = try store.request(id), request.jti == cancellation.cancels,
            request.life.cancel()
        else { return .entered }
        try store.updateLife(of: request)
        try store.record(.cancelled(request), at: now)
        return .entered
    }
}
