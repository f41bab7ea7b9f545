import Authenticator

extension StartError {
    /// Statuses for which a start that is simply tried again may go well: 69 and 74.
    init(_ trouble: BookTrouble) {
        let status: Status =
            switch trouble.kind {
            case .full, .io: .ioError
            case .busy: .unavailable
            case .readOnly, .notOurs: .noPermission
            case .corrupt, .newerSchema: .dataError
            case .other: .software
            }
        self.init(status, trouble.sentence)
    }
}
