import Records

extension CommandError {
    /// Nothing was signed.
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
