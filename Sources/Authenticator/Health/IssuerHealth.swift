import IssuerProtocol
import Synchronization

/// What is wrong at the moment with reaching issuers, for `status`.
final class IssuerHealth: Sendable {
    private struct Pause {
        let issuer: IssuerURL
        /// Seconds since 1970.
        let until: Int64
    }

    private struct Troubles {
        private(set) var all: [EnrollmentID: Trouble] = [:]
        private(set) var counts: [Trouble.Cause: Int] = [:]

        subscript(id: EnrollmentID) -> Trouble? {
            get { all[id] }
            set {
                if let old = all[id] { counts[old.cause, default: 0] -= 1 }
                if let newValue { counts[newValue.cause, default: 0] += 1 }
                all[id] = newValue
            }
        }
    }

    private let troubles = Mutex(Troubles())
    private let pauses = Mutex<[FetchGroups.ID: Pause]>([:])
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
    /// True if there is a trouble that was not there before.
    @discardableResult
    func note(_ enrollment: EnrollmentID, trouble: String?, cause: Trouble.Cause = .issuer) -> Bool {
        troubles.withLock { troubles in
            let isNews = trouble != nil && troubles[enrollment] == nil
            troubles[enrollment] = trouble.map { Trouble(cause, $0) }
            return isNews
        }
    }

    func found(of enrollment: EnrollmentID) -> Trouble? { troubles.withLock { $0[enrollment] } }

    /// How many enrollments are in trouble because of this, by the cause.
    var counts: [Trouble.Cause: Int] { troubles.withLock(\.counts) }

    /// So many of those whose issuer cannot be reached, or does not answer as it should.
    func troubled(_ most: Int) -> Set<EnrollmentID> { troubles.withLock { Set($0.all.keys.prefix(most)) } }

    func trouble(of enrollment: EnrollmentID) -> String? { found(of: enrollment)?.text }
}

// MARK: Pauses

extension IssuerHealth {
    /// Notes when a group that could not be fetched for is fetched for again; nil if it could, or is gone.
    func notePause(of group: FetchGroups.ID, at issuer: IssuerURL, until: Int64?) {
        pauses.withLock { $0[group] = until.map { Pause(issuer: issuer, until: $0) } }
    }

    /// The most seconds until an issuer that did not answer is asked again, by its URL.
    func pauses(now: Int64) -> [String: Int64] {
        let all = pauses.withLock { Array($0.values) }
        return Dictionary(all.map { ($0.issuer.text, max($0.until - now, 0)) }, uniquingKeysWith: max)
    }
}
