package import Records
import StoreTables

extension StoreTransaction {
    package func record(wrong tries: PINTries, of subject: PINTries.Subject, at now: Int64) throws {
        try record(.notVerified(subject, tries), at: now)
        if tries.blockedUntil != nil { try record(.blocked(subject, tries), at: now) }
    }

    /// Counts each try as a wrong one that was under way here when the agent stopped, and says so.
    ///
    /// Whether its PIN was right nobody knows any more: whoever stops the agent at that moment must gain no try. A store
    /// with one chain has no other host whose try it could be, and the empty name is that of a state that was moved from
    /// one: both are settled whoever began them.
    func settleTries(at now: Int64) throws {
        for (key, tries) in try keyTries() {
            guard let begun = tries.underWay, begun.isEmpty || begun == journalHost ?? begun else { continue }
            guard try setPINTries(of: key, from: tries, to: tries.settled) else { continue }
            try record(wrong: tries, of: PINTries.Subject(key), at: now)
        }
    }

    /// False, and nothing is changed, if the tries are not as expected, or the enrollment is over.
    @discardableResult
    package func setPINTries(of subject: PINTries.Subject, from old: PINTries, to new: PINTries) throws -> Bool {
        switch subject.kind {
        case .enrollment(let id): try change(id, .pinTries(from: old, to: new)) != nil
        case .key(let key): try setPINTries(of: key, from: old, to: new)
        }
    }
}
