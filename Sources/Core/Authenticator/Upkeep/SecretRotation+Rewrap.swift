import Journal
import Records
import StoreTables

/// Re-encryption of the store's rows under the present secret, in batches.
extension SecretRotation {
    /// An enrollment with a value that opens under neither secret.
    struct Failure: Sendable {
        let id: EnrollmentID
        let why: String
    }

    /// Re-encrypts the rows of all enrollments, and in later calls only the rows that failed.
    ///
    /// It visits all rows, even if the survey found few: other hosts may have sealed more under the previous secret
    /// since.
    func rewrapAllRows(_ due: Due) async throws -> [Failure] {
        var failures: [Failure] = []
        if let left = due.left {
            failures = try await rewrapRows(of: left, by: due.rewrapper)
        } else {
            var place: Int64?
            while let page = try await page(after: place) {
                failures += try await rewrapRows(of: page.enrollments.map(\.id), by: due.rewrapper)
                place = page.place
            }
        }
        leave(failures.map(\.id))
        return failures
    }

    func rewrapAllDataKeys(by rewrapper: any Rewrapper) async throws -> [Failure] {
        var (failures, last): ([Failure], EnrollmentID?) = ([], nil)
        while true {
            let page = try await dataKeys(after: last)
            failures += try await rewrapDataKeys(page, by: rewrapper)
            guard page.count == Self.step else { return failures }
            last = page.last?.enrollmentId
        }
    }

    /// Re-encrypts the rows of these enrollments.
    ///
    /// A damaged row stays damaged. A decision that has opened a key under the previous secret still succeeds.
    private func rewrapRows(of ids: [EnrollmentID], by rewrapper: any Rewrapper) async throws -> [Failure] {
        var failures: [Failure] = []
        // Other hosts' decisions wait for the rows that one database transaction locks.
        let step = ports.shares == nil ? Self.step : Self.sharedStep
        for start in stride(from: 0, to: ids.count, by: step) {
            let some = ids[start..<min(start + step, ids.count)]
            failures += try await ports.store.write { store in
                try some.compactMap { try self.rewrapRow(of: $0, by: rewrapper, in: store) }
            }
        }
        return failures
    }

    private func rewrapRow(
        of id: EnrollmentID, by rewrapper: any Rewrapper, in store: StoreTransaction
    ) throws -> Failure? {
        guard let enrollment = try store.enrollment(id) else { return nil }
        let (oldKey, oldToken) = (enrollment.sealedKey, enrollment.membership?.sealedToken)
        let kept = try store.subscriptions(of: id)
        let key: [UInt8]?, token: [UInt8]?, pushes: [KeptSubscription]
        do {
            key = try oldKey.flatMap { try rewrapper.key($0, of: id) }
            token = try oldToken.flatMap { try rewrapper.token($0, of: id) }
            pushes = try kept.compactMap { subscription in
                guard let sealed = try rewrapper.pushKey(subscription.sealedKey, of: id) else { return nil }
                var subscription = subscription
                subscription.sealedKey = sealed
                return subscription
            }
        } catch {
            return Failure(id: id, why: "\(error)")
        }
        if let oldKey, let key { try store.change(id, .keyResealed(Resealing(from: oldKey, to: key))) }
        if let oldToken, let token {
            try store.change(id, .tokenResealed(from: oldToken, to: token))
        } else {
            try store.change(id, .rowResealed)
        }
        for push in pushes { try store.update(push) }
        return nil
    }

    private func rewrapDataKeys(_ keys: [SealedDataKey], by rewrapper: any Rewrapper) async throws -> [Failure] {
        try await ports.store.write { store in
            try keys.compactMap { old in
                let new: [UInt8]?
                do {
                    new = try rewrapper.dataKey(old.sealed, of: old.enrollmentId)
                } catch {
                    return Failure(id: old.enrollmentId, why: "\(error)")
                }
                // A key that was erased since it was read stays erased.
                if let new { try store.update(old, resealed: new) }
                return nil
            }
        }
    }

    /// Reseals all counts of PIN tries, because those of keys without an enrollment are sealed too.
    func resealAllPINTries() async throws {
        let step = ports.shares == nil ? Self.step : Self.sharedStep
        var last: KeyIdentity?
        repeat {
            let after = last
            last = try await ports.store.write { try $0.resealPINTries(after: after, limit: step) }
        } while last != nil
    }

    func conclude(_ due: Due) async throws {
        let (rewrapper, clock) = (due.rewrapper, ports.clock)
        try await ports.store.write { store in
            if let sealed = try store.sealedAuditKey().flatMap(rewrapper.auditKey) {
                try store.update(sealedAuditKey: sealed)
            }
            if let sealed = try store.sealedRowKey().flatMap(rewrapper.rowKey) {
                try store.update(sealedRowKey: sealed)
            }
            try store.concludeSecretChange(rewrapper.auditKey)
            try store.record(.secretChanged(keys: due.keys, tokens: due.tokens), at: clock.now)
        }
    }
}
