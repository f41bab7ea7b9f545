internal import IssuerProtocol
import Records

/// Limits for the issuers' answers: for one answer, from the protocol, and for all answers together.
///
/// An issuer whose answer exceeds the limits for one is treated as unreachable. An operator sets ``bytesInAll``; the
/// others are constants, which tests make small.
package struct AnswerBounds: Sendable {
    /// Limit for a body, in bytes.
    package var bodyBytes = 1_048_576
    /// Limit for a list of requests, of one enrollment or of many, in bytes.
    package var listBytes = RequestList.maxBytes
    /// Limit for the requests in one list.
    package var listRequests = RequestList.limit

    /// Limit for the bytes of all answers that are being read or processed, without the first 16 KiB of each.
    package var bytesInAll = 67_108_864

    /// The least ``bytesInAll``: one issuer's share then has room for the longest list and the longest other answer.
    package static let leastBytesInAll = 33_554_432

    package static let standard = AnswerBounds()

    package init() {}

    func bounded(_ list: RequestList) throws(IssuerError) -> RequestList {
        try expectBounded(list.requests.count)
        return list
    }

    func bounded(_ answer: BatchFetchAnswer) throws(IssuerError) -> BatchFetchAnswer {
        try expectBounded(answer.results.map(\.requestCount).reduce(0, +))
        return answer
    }

    private func expectBounded(_ count: Int) throws(IssuerError) {
        guard count <= listRequests else {
            throw .transient(
                reason: "the issuer's list has \(count) requests, more than \(listRequests)", retryAfter: nil)
        }
    }
}
