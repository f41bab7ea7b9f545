import Synchronization

/// What is wrong at the moment with reaching issuers, for `status`.
final class IssuerHealth: Sendable {
    private let troubles = Mutex<[EnrollmentID: String]>([:])

    /// Notes how the last call went.
    ///
    /// True where there is a trouble that was not there before.
    @discardableResult
    func note(_ enrollment: EnrollmentID, trouble: String?) -> Bool {
        troubles.withLock { troubles in
            let isNews = trouble != nil && troubles[enrollment] == nil
            troubles[enrollment] = trouble
            return isNews
        }
    }

    func trouble(of enrollment: EnrollmentID) -> String? { troubles.withLock { $0[enrollment] } }
}
