import Logging

/// Why the agent's secret cannot be changed; nothing was.
package struct RotationError: Error, Sendable, CustomStringConvertible {
    package let description: String
}

/// Changes the secret that everything is under, before anything runs.
struct SecretRotation: Sendable {
    let ports: Ports
    let rewrapper: any Rewrapper
    let log: Logger
    var onStep: @Sendable (StartStep) -> Void = { _ in }

    /// The most rows that one database transaction looks at or rewrites.
    static let step = 200

    /// The number of those under the previous secret.
    ///
    /// They are counted, and found again when they are rewritten: nothing else writes meanwhile.
    private struct Due: Sendable {
        var keys = 0
        var tokens = 0
        var pushes = 0
        /// Also those of enrollments that are over: what is kept of them is under these.
        var dataKeys = 0
        var auditKey = false

        /// All that are not over: rows are sealed under the secret too.
        var rows = 0

        /// The steps' sum.
        var count: Int { rows + dataKeys }
        var isNothing: Bool { !auditKey && keys == 0 && tokens == 0 && pushes == 0 && dataKeys == 0 }
    }

    /// Everything is looked at first, so that nothing is changed if something opens under neither secret.
    ///
    /// The audit key goes last, in one database transaction with the journal's entry: as long as it is under the
    /// previous secret, the agent does not start on the present one alone.
    ///
    /// - Throws: `RotationError` if nothing was changed; what the store throws if the change
    ///   goes on at the next start with both secrets.
    func run() async throws {
        let due = try await survey()
        guard !due.isNothing else {
            // It was begun, and cut short before or after all of it.
            if ports.shares != nil { try await ports.store.write { try $0.concludeSecretChange { _ in nil } } }
            return log.notice("nothing uses the previous secret any more: remove it")
        }
        // Nothing is changed under a journal that cannot record it.
        try await ports.store.write { _ in }
        log.notice("the secret is being changed", metadata: ["keys": "\(due.keys)"])
        try await rewrap(due)
        try await conclude(due)
        log.notice("the secret was changed: remove the previous one", metadata: ["keys": "\(due.keys)"])
    }

    private func rewrap(_ due: Due) async throws {
        var done = 0
        func note(_ count: Int) {
            done += count
            onStep(.rewrapped(done, of: due.count))
        }
        try await forEachPage { page in
            let ids = page.map(\.id)
            try await rewrapRows(of: ids)
            if due.pushes > 0 { try await rewrapPushKeys(of: ids) }
            note(ids.count)
        }
        guard due.dataKeys > 0 else { return }
        try await forEachPageOfDataKeys { page in note(try await rewrapDataKeys(page)) }
    }

    private func survey() async throws -> Due {
        let (count, auditKeys, rowKey) = try await ports.store.read { store in
            (
                try store.enrollmentCount(),
                try [store.sealedAuditKey()].compactMap(\.self) + store.sealedAuditKeysOfOthers(),
                try store.sealedRowKey()
            )
        }
        var due = Due()
        try changingNothing("the audit key") {
            due.auditKey = try auditKeys.contains { try rewrapper.auditKey($0) != nil }
        }
        try changingNothing("the key of the rows' sums") { _ = try rowKey.flatMap(rewrapper.rowKey) }
        try await forEachPage { page in
            let pushKeys = try await ports.store.survey { store in
                try page.map { try store.subscriptions(of: $0.id).map(\.sealedKey) }
            }
            for (enrollment, pushKeys) in zip(page, pushKeys) {
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
        }
        try await forEachPageOfDataKeys { page in
            for key in page {
                try changingNothing("the data key of enrollment \(key.enrollmentId)") {
                    if try rewrapper.dataKey(key.sealed, of: key.enrollmentId) != nil { due.dataKeys += 1 }
                }
            }
        }
        return due
    }

    /// Goes through all that are not over.
    private func forEachPage(_ body: ([Enrollment]) async throws -> Void) async throws {
        var place: Int64?
        while true {
            let after = place
            let page = try await ports.store.survey {
                try $0.enrollmentPage(after: after, limit: Self.step, includingEnded: false)
            }
            guard let page else { return }
            try await body(page.enrollments)
            place = page.place
        }
    }

    private func forEachPageOfDataKeys(_ body: ([SealedDataKey]) async throws -> Void) async throws {
        var last: EnrollmentID?
        while true {
            let after = last
            let page = try await ports.store.survey { try $0.dataKeys(after: after, limit: Self.step) }
            try await body(page)
            guard page.count == Self.step else { return }
            last = page.last?.enrollmentId
        }
    }

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

    /// A damaged row stays damaged.
    private func rewrapRows(of ids: [EnrollmentID]) async throws {
        let rewrapper = rewrapper
        try await ports.store.write { store in
            for id in ids {
                guard let enrollment = try store.enrollment(id) else { continue }
                if let old = enrollment.sealedKey, let new = try rewrapper.key(old, of: id) {
                    try store.change(id, .keyResealed(Resealing(from: old, to: new)))
                }
                if let old = enrollment.membership?.sealedToken, let new = try rewrapper.token(old, of: id) {
                    try store.change(id, .tokenResealed(from: old, to: new))
                } else {
                    try store.change(id, .rowResealed)
                }
            }
        }
    }

    private func rewrapPushKeys(of ids: [EnrollmentID]) async throws {
        let rewrapper = rewrapper
        try await ports.store.write { store in
            for id in ids {
                for var subscription in try store.subscriptions(of: id) {
                    guard let sealed = try rewrapper.pushKey(subscription.sealedKey, of: id) else { continue }
                    subscription.sealedKey = sealed
                    try store.update(subscription)
                }
            }
        }
    }

    /// - Returns: how many were under the previous secret.
    private func rewrapDataKeys(_ keys: [SealedDataKey]) async throws -> Int {
        let rewrapper = rewrapper
        return try await ports.store.write { store in
            var count = 0
            for old in keys {
                guard let new = try rewrapper.dataKey(old.sealed, of: old.enrollmentId) else { continue }
                try store.update(old, resealed: new)
                count += 1
            }
            return count
        }
    }

    private func conclude(_ due: Due) async throws {
        let (rewrapper, clock) = (rewrapper, ports.clock)
        let (keys, tokens) = (due.keys, due.tokens)
        try await ports.store.write { store in
            try store.resealPINTries()
            if let sealed = try store.sealedAuditKey().flatMap(rewrapper.auditKey) {
                try store.update(sealedAuditKey: sealed)
            }
            if let sealed = try store.sealedRowKey().flatMap(rewrapper.rowKey) {
                try store.update(sealedRowKey: sealed)
            }
            try store.concludeSecretChange(rewrapper.auditKey)
            try store.record(.secretChanged(keys: keys, tokens: tokens), at: clock.now)
        }
    }
}
