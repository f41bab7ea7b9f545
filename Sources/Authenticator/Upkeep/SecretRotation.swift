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

    /// The most tokens that one database transaction rewrites.
    static let step = 200

    private struct Due: Sendable {
        var keys: [EnrollmentID] = []
        var tokens: [EnrollmentID] = []
        var pushes: [EnrollmentID] = []
        /// Also those of enrollments that are over: what is kept of them is under these.
        var dataKeys: [SealedDataKey] = []
        var auditKey = false

        /// All that are not over: rows are sealed under the secret too.
        var rows: [EnrollmentID] = []

        var count: Int { rows.count + pushes.count + dataKeys.count }
        var isNothing: Bool {
            !auditKey && keys.isEmpty && tokens.isEmpty && pushes.isEmpty && dataKeys.isEmpty
        }
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
        log.notice("the secret is being changed", metadata: ["keys": "\(due.keys.count)"])
        try await rewrap(due)
        try await conclude(due)
        log.notice("the secret was changed: remove the previous one", metadata: ["keys": "\(due.keys.count)"])
    }

    private func rewrap(_ due: Due) async throws {
        var done = 0
        func note(_ count: Int) {
            done += count
            onStep(.rewrapped(done, of: due.count))
        }
        for start in stride(from: 0, to: due.rows.count, by: Self.step) {
            let ids = Array(due.rows[start...].prefix(Self.step))
            try await rewrapRows(of: ids)
            note(ids.count)
        }
        for start in stride(from: 0, to: due.pushes.count, by: Self.step) {
            let ids = Array(due.pushes[start...].prefix(Self.step))
            try await rewrapPushKeys(of: ids)
            note(ids.count)
        }
        for start in stride(from: 0, to: due.dataKeys.count, by: Self.step) {
            let old = Array(due.dataKeys[start...].prefix(Self.step))
            try await rewrapDataKeys(old)
            note(old.count)
        }
    }

    private func survey() async throws -> Due {
        let (enrollments, auditKeys, pushKeys) = try await ports.store.read { store in
            let enrollments = try store.enrollments(includingEnded: false)
            let pushKeys = try enrollments.map { try store.subscriptions(of: $0.id).map(\.sealedKey) }
            return (
                enrollments, try [store.sealedAuditKey()].compactMap(\.self) + store.sealedAuditKeysOfOthers(), pushKeys
            )
        }
        var due = Due()
        try changingNothing("the audit key") {
            due.auditKey = try auditKeys.contains { try rewrapper.auditKey($0) != nil }
        }
        due.rows = enrollments.map(\.id)
        for (place, (enrollment, pushKeys)) in zip(enrollments, pushKeys).enumerated() {
            let id = enrollment.id
            try changingNothing("enrollment \(id)") {
                if let key = enrollment.sealedKey, try rewrapper.key(key, of: id) != nil { due.keys.append(id) }
                if try pushKeys.contains(where: { try rewrapper.pushKey($0, of: id) != nil }) { due.pushes.append(id) }
                guard let token = enrollment.membership?.sealedToken else { return }
                if try rewrapper.token(token, of: id) != nil { due.tokens.append(id) }
            }
            onStep(.surveyed(place + 1, of: enrollments.count))
            await Task.yield()
        }
        due.dataKeys = try await dueDataKeys()
        return due
    }

    private func dueDataKeys() async throws -> [SealedDataKey] {
        var due: [SealedDataKey] = []
        var last: EnrollmentID?
        while true {
            let place = last
            let page = try await ports.store.read { try $0.dataKeys(after: place, limit: Self.step) }
            for key in page {
                try changingNothing("the data key of enrollment \(key.enrollmentId)") {
                    if try rewrapper.dataKey(key.sealed, of: key.enrollmentId) != nil { due.append(key) }
                }
            }
            guard page.count == Self.step else { return due }
            last = page.last?.enrollmentId
            await Task.yield()
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

    private func rewrapDataKeys(_ keys: [SealedDataKey]) async throws {
        let rewrapper = rewrapper
        try await ports.store.write { store in
            for old in keys {
                guard let new = try rewrapper.dataKey(old.sealed, of: old.enrollmentId) else { continue }
                try store.update(old, resealed: new)
            }
        }
    }

    private func conclude(_ due: Due) async throws {
        let (rewrapper, clock) = (rewrapper, ports.clock)
        let (keys, tokens) = (due.keys.count, due.tokens.count)
        try await ports.store.write { store in
            for (key, tries) in try store.keyTries() where tries != .unknown {
                try store.setPINTries(of: key, from: tries, to: tries)
            }
            if let sealed = try store.sealedAuditKey().flatMap(rewrapper.auditKey) {
                try store.update(sealedAuditKey: sealed)
            }
            try store.concludeSecretChange(rewrapper.auditKey)
            try store.record(.secretChanged(keys: keys, tokens: tokens), at: clock.now)
        }
    }
}
