internal import Authenticator
internal import IssuerProtocol

/// How much of an issuer's answer is taken in; the protocol's own bounds, which can only be lowered.
///
/// An issuer whose answers go beyond them is treated as one that cannot be reached.
package struct AnswerBounds: Sendable {
    /// The bytes of a body.
    package var bodyBytes = 1_048_576
    /// The bytes of a list of requests, of one enrollment or of many.
    package var listBytes = RequestList.maxBytes
    /// The requests in one.
    package var listRequests = RequestList.limit

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
