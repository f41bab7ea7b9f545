import IssuerProtocol
import Keys
import Records

extension D1Error {
    /// Maps an error of the core to an error for the app.
    init(_ error: any Error) {
        switch error {
        case let error as D1Error: self = error
        case let failure as CommandError: self.init(Code(failure.code), "\(failure.code)", failure.message)
        case let trouble as StoreError: self.init(.core, "storage", "the state cannot be used: \(trouble)")
        case let fault as PINError: self.init(.invalidArgument, "invalidArgument", "the PIN: \(fault)")
        case is CancellationError:
            self.init(.cancelled, "cancelled", "nothing was decided: the call was cancelled, or the D1Task closed")
        default: self.init(.authn, "failed", "\(error)")
        }
    }

    static let delegateGone = D1Error(
        .authn, "delegateGone", "nothing was decided: the delegate is gone, and only the app can keep it")
}

extension D1Error.Code {
    /// Maps a code of the core; the control API of `oob-agent` uses the same numbers.
    fileprivate init(_ code: CommandError.Code) {
        self =
            switch code {
            case .invalidArgument, .notFound, .ambiguous: .invalidArgument
            case .userNotVerified, .pinRequired: .authnAccessDenied
            case .blocked: .authnBlocked
            case .notEnrolled: .authnNotEnrolled
            case .invalidEnrollmentCode: .authnInvalidEnrollmentToken
            case .keyUnavailable: .authenticatorNotAvailable
            case .noRequest, .expectationFailed, .noLongerDecidable, .notInTime, .alreadyEnrolled, .issuerUnreachable,
                .issuerRefused, .failed:
                .authn
            }
    }
}
