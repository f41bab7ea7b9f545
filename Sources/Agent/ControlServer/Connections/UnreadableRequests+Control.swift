import Control
import HTTPServing
import HTTPTypes
import HummingbirdCore

extension UnreadableRequests {
    /// Answers with a problem (RFC 9457) that gives the limits for a head.
    convenience init(answeredIn bounds: HTTP1Channel.Configuration.DecoderConfiguration) {
        self.init { reason in
            let problem =
                switch reason {
                case .headTooLarge:
                    ControlError(
                        .headerTooLarge,
                        "the head has at most \(bounds.maxHeaderFieldCount) fields, \(bounds.maxHeaderFieldSize) bytes "
                            + "in one, and \(bounds.maxHeaderListSize) in all")
                case .noHTTP(let words):
                    ControlError(.invalidArgument, "this is no request of HTTP/1.1: \(words)")
                }
            return Reply(
                status: .init(code: problem.token.httpStatus), fields: [.contentType: ControlError.contentType],
                body: Answer.problemBody(problem))
        }
    }
}
