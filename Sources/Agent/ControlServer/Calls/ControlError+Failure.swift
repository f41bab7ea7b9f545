import Control
import Records

extension ControlError {
    init(_ failure: CommandError) {
        self.init(
            ErrorToken(failure.code), failure.message,
            request: failure.request.map { RequestView($0, enrollment: nil) })
    }
}

extension ControlError {
    /// The store logs its errors where they occur, so this does not log each call that meets one.
    init(_ trouble: StoreError) {
        let outcome =
            trouble.isInDoubt
            ? "it is not known whether this was kept, so look before you do it again" : "nothing was changed"
        self.init(trouble.isInDoubt ? .storageInDoubt : .storage, "\(outcome): \(trouble)")
    }
}

extension ErrorToken {
    fileprivate init(_ code: CommandError.Code) {
        self =
            switch code {
            case .invalidArgument: .invalidArgument
            case .notFound: .notFound
            case .noRequest: .noRequest
            case .ambiguous: .ambiguous
            case .expectationFailed: .expectationFailed
            case .userNotVerified: .userNotVerified
            case .pinRequired: .pinRequired
            case .blocked: .blocked
            case .noLongerDecidable: .noLongerDecidable
            case .notInTime: .notInTime
            case .notEnrolled: .notEnrolled
            case .invalidEnrollmentCode: .invalidEnrollmentCode
            case .alreadyEnrolled: .alreadyEnrolled
            case .issuerUnreachable: .issuerUnreachable
            case .issuerRefused: .issuerRefused
            case .keyUnavailable: .keyUnavailable
            case .failed: .failed
            }
    }
}
