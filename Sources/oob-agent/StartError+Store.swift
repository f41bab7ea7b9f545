import Authenticator

extension StartError {
    /// Statuses for which a start that is simply tried again may go well: 69 and 74.
    init(_ trouble: StoreError) {
        let status: Status =
            switch trouble.kind {
            case .full, .io: .ioError
            case .busy: .unavailable
            case .readOnly, .notOurs: .noPermission
            case .corrupt, .forged, .newerSchema: .dataError
            case .other: .software
            }
        self.init(status, trouble.sentence)
    }

    /// What nobody foresaw is a fault of the program's own.
    init(_ error: any Error) {
        switch error {
        case let known as StartError: self = known
        case let trouble as StoreError: self.init(trouble)
        default:
            self.init(
                .software,
                "the agent ends by a fault of its own, or of a database that something else has written to: \(error)")
        }
    }
}
