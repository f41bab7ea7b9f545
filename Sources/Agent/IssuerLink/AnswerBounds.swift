internal import IssuerProtocol
import Records

/// The bounds of issuers' answers: of one, as the protocol has it, and of all together.
///
/// An issuer whose answers go beyond the bounds of one is treated as one that cannot be reached. An operator sets
/// ``bytesInAll``; the others are constants, which tests make small.
package struct AnswerBounds: Sendable {
    /// The bytes of a body.
    package var bodyBytes = 1_048_576
    /// The bytes of a list of requests, of one enrollment or of many.
    package var listBytes = RequestList.maxBytes
    /// The requests in one.
    package var listRequests = RequestList.limit

    /// The bytes of all answers that are read or not yet done with, beyond the first of each.
    package var bytesInAll = 67_108_864

    /// The fewest bytes for all, of which one issuer's share has room for the longest list and the longest other answer.
    package static let leastBytesInAll = 33_554_432

    package static let standard = AnswerBounds()

    package init() {}

    func check(_ list: RequestList) throws(IssuerError) -> RequestList {
        try check(list.requests.count)
        return list
    }

    func check(_ answer: BatchFetchAnswer) throws(IssuerError) -> BatchFetchAnswer {
        try check(answer.results.map(\.requestCount).reduce(0, +))
        return answer
    }

    private func check(_ count: Int) throws(IssuerError) {
        guard count <= listRequests else {
            throw .transient(
                reason: "the issuer's list has \(count) requests, more than \(listRequests)", retryAfter: nil)
        }
    }
}
