import Synchronization

/// What is wrong at the moment with reaching issuers, for `status`.
final class IssuerHealth: Sendable {
    private let troubles = Mutex<[EnrollmentID: String]>([:])
    private let leaving = Mutex<Set<EnrollmentID>>([])

    /// Marks an enrollment whose issuer is being told of its end: that it is unknown there is no trouble then.
    func setLeaving(_ enrollment: EnrollmentID, _ isLeaving: Bool) {
        leaving.withLock { leaving in
            if isLeaving { leaving.insert(enrollment) } else { leaving.remove(enrollment) }
        }
    }

    func isLeaving(_ enrollment: EnrollmentID) -> Bool { leaving.withLock { $0.contains(enrollment) } }

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
