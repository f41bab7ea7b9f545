import Records

extension CommandError {
    /// Makes the error of a command for which the custody signed no data.
    init(_ failure: CustodyError, request: RequestRecord? = nil) {
        let code: Code =
            switch failure.code {
            case .needsPIN, .wrongPIN: .userNotVerified
            case .pinLocked: .blocked
            case .takesNoPIN: .invalidArgument
            case .silent, .unavailable: .keyUnavailable
            }
        self.init(code, failure.description, request: request)
    }
}
