import Logging
import Records
import StoreTables
import Synchronization

/// Change of the secret that seals the store's values, while the agent runs and opens both secrets.
///
/// It starts only if new values are sealed under the present secret from the start on.
final class SecretRotation: Sendable {
    /// The most rows that one database transaction reads or re-encrypts.
    static let step = 200
    /// The most rows that one database transaction re-encrypts in a store that hosts share.
    static let sharedStep = 20
    /// The seconds between two tries, and between two checks of other hosts' progress.
    private static let pause: Double = 10

    let ports: Ports
    private let log: Logger
    private let due = Mutex<Due?>(nil)
    /// The hosts that the last log line about waiting has named.
    private let awaited = Mutex<[String]>([])

    init(ports: Ports, log: Logger) {
        self.ports = ports
        self.log = log
    }

    /// Counts of the values that were under the previous secret when the agent started.
    struct Due: Sendable {
        let rewrapper: any Rewrapper
        var keys = 0
        var tokens = 0
        var pushes = 0
        /// The data keys, also of ended enrollments: their remaining data is under these keys.
        var dataKeys = 0
        var auditKey = false

        /// The number of enrollments that have not ended.
        ///
        /// Their rows are sealed under the secret too.
        var rows = 0
        /// The enrollments with a value that opened under neither secret.
        ///
        /// `nil` until all enrollments were visited once.
        var left: [EnrollmentID]?
        var isNothing: Bool { !auditKey && keys == 0 && tokens == 0 && pushes == 0 && dataKeys == 0 }
    }

    /// Surveys all values before any other task starts, so that none is changed if one opens under neither secret.
    ///
    /// - Throws: `RotationError`, or the store's errors.
    func begin(with rewrapper: any Rewrapper, onStep: @Sendable (StartStep) -> Void) async throws {
        let found: Result<Due, any Error>
        do {
            found = .success(try await survey(rewrapper, onStep))
        } catch {
            found = .failure(error)
        }
        let due = try await settled(found, rewrapper)
        // Among several hosts, a change may have been interrupted just before its end.
        guard !due.isNothing || ports.shares != nil else { return noteUnused() }
        // No value is changed under a journal that cannot record the change.
        let isUnderWay = try await ports.store.write { try $0.noteSecretSurvey() }
        // Since the survey, another host may have finished the change, or abandoned it.
        if ports.shares != nil, !isUnderWay, try await isAuditKeyDue(rewrapper) {
            throw RotationError(description: "another host has given up the change of the secret: start this one again")
        }
        self.due.withLock { $0 = due }
    }

    /// Returns the survey's counts.
    ///
    /// They are zero if a value opens under neither secret but other hosts already continue with the change.
    ///
    /// - Throws: the survey's error if no host has begun to change rows.
    private func settled(_ found: Result<Due, any Error>, _ rewrapper: any Rewrapper) async throws -> Due {
        guard case .failure(let error) = found, error is RotationError else { return try found.get() }
        // Other hosts already seal under the present secret, so neither secret is enough alone. A value that does not
        // open is reported again after all other values were changed.
        let isSurveyed = try await ports.store.read { try $0.isSecretChangeSurveyed() }
        return isSurveyed ? Due(rewrapper: rewrapper) : try found.get()
    }

    private func isAuditKeyDue(_ rewrapper: any Rewrapper) async throws -> Bool {
        try await ports.store.read { store in
            let keys = try [store.sealedAuditKey()].compactMap(\.self) + store.sealedAuditKeysOfOthers()
            return try keys.contains { try rewrapper.auditKey($0) != nil }
        }
    }

    /// Whether a value is under the previous secret, or other hosts may have one.
    var isDue: Bool { due.withLock { $0 != nil } }

    /// Works until the task is cancelled.
    func run() async throws {
        var told: String?
        while true {
            do {
                try await finish()
                told = nil
            } catch is CancellationError {
                return
            } catch {
                let reason = "\(error)"
                if told != reason { log.error("the secret is not changed yet", metadata: ["reason": "\(reason)"]) }
                told = reason
            }
            try await ports.clock.sleep(seconds: Self.pause)
        }
    }

    /// Re-encrypts all values under the present secret, if the agent was started with both.
    ///
    /// The audit key is last, in one database transaction with the journal's entry: while it is under the previous
    /// secret, the agent does not start with the present one alone.
    ///
    /// - Throws: the store's errors, or `RotationError` if values of enrollments open under neither secret. Then PIN
    ///   counts, row key and audit key wait for a later call, which continues.
    func finish() async throws {
        guard let due = due.withLock(\.self), try await isOurTurn(due) else { return }
        if due.left == nil { log.notice("the secret is being changed", metadata: ["keys": "\(due.keys)"]) }
        let failures = try await rewrapAllRows(due) + rewrapAllDataKeys(by: due.rewrapper)
        if let first = failures.first {
            throw RotationError(
                description: "enrollment \(first.id): \(first.why)"
                    + (failures.count > 1 ? "; and \(failures.count - 1) others" : ""))
        }
        try await resealAllPINTries()
        try await conclude(due)
        noteChanged(due)
    }

    /// Returns whether this host is to do the work now, and logs once which hosts it waits for.
    private func isOurTurn(_ due: Due) async throws -> Bool {
        guard ports.shares != nil else { return true }
        switch try await ports.store.write({ try $0.turnOfSecretChange() }) {
        case .ours: return true
        case .another: return false
        case .waits(let hosts):
            let isNew = awaited.withLock { awaited in
                defer { awaited = hosts }
                return awaited != hosts
            }
            guard isNew else { return false }
            log.notice(
                "the secret is changed once other hosts have started again",
                metadata: ["hosts": "\(hosts.joined(separator: ", "))"])
            return false
        case .over:
            // Values that an earlier change has left are re-encrypted: no host seals under the previous secret now.
            guard due.isNothing || due.auditKey else { return true }
            due.isNothing ? noteUnused() : noteChanged(due)
            return false
        }
    }

    private func noteChanged(_ due: Due) {
        self.due.withLock { $0 = nil }
        log.notice("the secret was changed: remove the previous one", metadata: ["keys": "\(due.keys)"])
    }

    private func noteUnused() {
        due.withLock { $0 = nil }
        log.notice("nothing uses the previous secret any more: remove it")
    }

    private func survey(_ rewrapper: any Rewrapper, _ onStep: @Sendable (StartStep) -> Void) async throws -> Due {
        let (count, auditKeys, rowKey) = try await ports.store.read { store in
            (
                try store.enrollmentCount(),
                try [store.sealedAuditKey()].compactMap(\.self) + store.sealedAuditKeysOfOthers(),
                try store.sealedRowKey()
            )
        }
        var due = Due(rewrapper: rewrapper)
        try changingNothing("the audit key") {
            due.auditKey = try auditKeys.contains { try rewrapper.auditKey($0) != nil }
        }
        try changingNothing("the key of the rows' sums") { _ = try rowKey.flatMap(rewrapper.rowKey) }
        var place: Int64?
        while let page = try await page(after: place) {
            let pushKeys = try await ports.store.survey { store in
                try page.enrollments.map { try store.subscriptions(of: $0.id).map(\.sealedKey) }
            }
            for (enrollment, pushKeys) in zip(page.enrollments, pushKeys) {
                let id = enrollment.id
                due.rows += 1
                try changingNothing("enrollment \(id)") {
                    if let key = enrollment.sealedKey, try rewrapper.key(key, of: id) != nil { due.keys += 1 }
                    if try pushKeys.contains(where: { try rewrapper.pushKey($0, of: id) != nil }) { due.pushes += 1 }
                    guard let token = enrollment.membership?.sealedToken else { return }
                    if try rewrapper.token(token, of: id) != nil { due.tokens += 1 }
                }
                onStep(.surveyed(due.rows, of: count))
            }
            place = page.place
        }
        var last: EnrollmentID?
        while true {
            let page = try await dataKeys(after: last)
            for key in page {
                try changingNothing("the data key of enrollment \(key.enrollmentId)") {
                    if try rewrapper.dataKey(key.sealed, of: key.enrollmentId) != nil { due.dataKeys += 1 }
                }
            }
            guard page.count == Self.step else { break }
            last = page.last?.enrollmentId
        }
        return due
    }

    /// Reads the next page of enrollments that have not ended.
    ///
    /// `nil` after the last one.
    func page(after place: Int64?) async throws -> EnrollmentPage? {
        try await ports.store.survey {
            try $0.enrollmentPage(after: place, limit: Self.step, includingEnded: false)
        }
    }

    func dataKeys(after last: EnrollmentID?) async throws -> [SealedDataKey] {
        try await ports.store.survey { try $0.dataKeys(after: last, limit: Self.step) }
    }

    /// Stores the enrollments that could not be changed.
    func leave(_ ids: [EnrollmentID]) { due.withLock { $0?.left = ids } }

    private func changingNothing(_ what: String, _ look: () throws -> Void) throws(RotationError) {
        do {
            try look()
        } catch {
            throw RotationError(
                description:
                    "the secret was not changed, nothing was: \(what): \(error); give both the secret that all is "
                    + "to be under and the one that it is under now")
        }
    }
}
