import Authenticator
import Control

extension ControlError {
    init(_ failure: CommandFailure) {
        self.init(
            ErrorToken(failure.code), failure.message,
            request: failure.request.map { RequestView($0, enrollment: nil) })
    }
}

extension ErrorToken {
    fileprivate init(_ code: CommandFailure.Code) {
        self =
            switch code {
            case .invalidArgument: .invalidArgument
            case .notFound: .notFound
            case .noRequest: .noRequest
            case .ambiguous: .ambiguous
            case .expectationFailed: .expectationFailed
            case .userNotVerified: .userNotVerified
            case .blocked: .blocked
            case .noLongerDecidable: .noLongerDecidable
            case .notEnrolled: .notEnrolled
            case .invalidEnrollmentCode: .invalidEnrollmentCode
            case .alreadyEnrolled: .alreadyEnrolled
            case .issuerUnreachable: .issuerUnreachable
            case .issuerRefused: .issuerRefused
            case .failed: .failed
            }
    }
}
