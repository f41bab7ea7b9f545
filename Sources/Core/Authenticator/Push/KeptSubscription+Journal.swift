import IssuerProtocol
import Journal
import Keys
import Records
import StoreTables
import StrictJSON
import TextAndTime

/// What changes subscriptions, each change with its entry in the journal.
extension StoreTransaction {
    /// Notes that the issuer has the newest subscription of an enrollment: those before it end.
    func registerNewestSubscription(of id: EnrollmentID, at now: Int64) throws {
        let all = try subscriptions(of: id)
        guard var newest = all.last else { return }
        if !newest.isRegistered {
            newest.isRegistered = true
            try update(newest)
            try record(.pushRegistered(newest), at: now)
        }
        for old in all.dropLast() { try remove(old, at: now) }
    }

    /// Takes in a new one; one that the issuer was not known to have goes for it, so that there are two at most.
    ///
    /// False, and nothing is changed, if the enrollment ended meanwhile.
    @discardableResult
    func begin(_ new: KeptSubscription, at now: Int64) throws -> Bool {
        guard try enrollment(new.enrollmentId)?.isOver == false else { return false }
        for old in try subscriptions(of: new.enrollmentId) where !old.isRegistered { try remove(old, at: now) }
        try insert(new)
        try record(.pushMade(new), at: now)
        return true
    }

    func removeSubscriptions(of id: EnrollmentID, at now: Int64) throws {
        for old in try subscriptions(of: id) { try remove(old, at: now) }
    }

    private func remove(_ old: KeptSubscription, at now: Int64) throws {
        try removeSubscription(old.tokenDigest)
        try record(.pushRemoved(old), at: now)
    }
}

/// A subscription in the journal: by a digest of its endpoint, never by its URL or keys.
extension JournalFact {
    /// Pushes to it are taken from now on; its issuer is to learn of it.
    static func pushMade(_ kept: KeptSubscription) throws -> JournalFact { try push(.pushMade, kept) }

    /// The issuer has answered that it has it.
    static func pushRegistered(_ kept: KeptSubscription) throws -> JournalFact { try push(.pushRegistered, kept) }

    /// Pushes to it are taken no more.
    static func pushRemoved(_ kept: KeptSubscription) throws -> JournalFact { try push(.pushRemoved, kept) }

    private static func push(_ kind: Kind, _ kept: KeptSubscription) throws -> JournalFact {
        let digest = Base64URL.encode(try SHA256Digest.of(Array(kept.endpoint.text.utf8)))
        return about(kept.enrollmentId, kind, with: ["endpoint": .string(digest)])
    }
}
