internal import IssuerProtocol
import Records
internal import StrictJSON

/// An answer of the issuer, or of a proxy or load balancer in front of it.
struct IssuerAnswer: Sendable {
    let status: UInt
    let contentType: String?
    /// Seconds, from a server that is busy.
    let retryAfter: Int64?
    let body: [UInt8]
    /// The body's reservation in the room, or `nil` if the body needs none.
    let room: AnswerRoom.Ticket?

    /// Returns the value in the body, if the status is `expected`.
    ///
    /// The content type is not checked, because only JSON of the right form can be read.
    func value<Value>(
        on expected: UInt, _ read: ([UInt8]) throws(ProtocolError) -> Value
    ) throws(IssuerError) -> Value {
        guard status == expected else { throw refusal(expected) }
        do {
            return try read(body)
        } catch {
            throw .transient(reason: "the issuer's answer is not in order: \(complaint(error))", retryAfter: nil)
        }
    }

    /// Returns a problem if status and code are those of a known error, or else a transient error.
    private func refusal(_ expected: UInt) -> IssuerError {
        if (300..<400).contains(status) {
            return .transient(
                reason: "the issuer answered with a redirect (\(status)), which is not followed", retryAfter: nil)
        }
        if (400..<600).contains(status), let problem = Problem(bytes: body, contentType: contentType) {
            return .problem(problem)
        }
        return .transient(
            reason: "the issuer answered \(status), and neither \(expected) nor a problem with a known code",
            retryAfter: retryAfter)
    }

    /// Describes the error; a name that appears twice is the issuer's text, so it is not quoted.
    private func complaint(_ error: ProtocolError) -> String {
        do throws(JSONError) {
            _ = try JSONReader.value(body, limits: JSONLimits(maxBytes: body.count))
        } catch {
            if case .duplicateName = error.reason { return "JSON at byte \(error.offset): a name appears twice" }
        }
        return "\(error)"
    }
}
