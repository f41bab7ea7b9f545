package import Records
import StoreTables

extension StoreTransaction {
    package func record(wrong tries: PINTries, of subject: PINTries.Subject, at now: Int64) throws {
        try record(.notVerified(subject, tries), at: now)
        if tries.blockedUntil != nil { try record(.blocked(subject, tries), at: now) }
    }

    /// Counts each PIN try as wrong that was under way here when the agent stopped, and records it.
    ///
    /// It is not known any more whether the PIN was right. An attacker who stops the agent at that moment must not gain
    /// a try. A store with one chain has no other host, so all its tries are settled here. An empty host name comes
    /// from a state that was moved from such a store. These tries are settled here, too.
    func settleTries(at now: Int64) throws {
        for (key, tries) in try keyTries() {
            guard let begun = tries.underWay, begun.isEmpty || begun == journalHost ?? begun else { continue }
            guard try setPINTries(of: key, from: tries, to: tries.settled) else { continue }
            try record(wrong: tries, of: PINTries.Subject(key), at: now)
        }
    }

    /// Changes a wrong-PIN count.
    ///
    /// - Returns: `false`, without a change, if the count is not `old` or the enrollment has ended.
    @discardableResult
    package func setPINTries(of subject: PINTries.Subject, from old: PINTries, to new: PINTries) throws -> Bool {
        switch subject.kind {
        case .enrollment(let id): try change(id, .pinTries(from: old, to: new)) != nil
        case .key(let key): try setPINTries(of: key, from: old, to: new)
        }
    }
}
