import IssuerProtocol
import Journal
import Keys
import Records
import StoreTables
import StrictJSON
import TextAndTime

/// Changes of subscriptions, each with its entry in the journal.
extension StoreTransaction {
    /// Marks an enrollment's newest subscription as registered with the issuer, and removes the older ones.
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

    /// Adds a subscription in the place of an unregistered one, so that an enrollment has two at most.
    ///
    /// Returns false, without a change, if the enrollment has ended meanwhile.
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

/// Facts about a subscription, by a digest of its endpoint, never by its URL or keys.
extension JournalFact {
    /// The start of a subscription: pushes to it are accepted from now on, and its issuer is to learn of it.
    static func pushMade(_ kept: KeptSubscription) throws -> JournalFact { try push(.pushMade, kept) }

    /// The issuer's answer that it has the subscription.
    static func pushRegistered(_ kept: KeptSubscription) throws -> JournalFact { try push(.pushRegistered, kept) }

    /// The end of a subscription: pushes to it are no longer accepted.
    static func pushRemoved(_ kept: KeptSubscription) throws -> JournalFact { try push(.pushRemoved, kept) }

    private static func push(_ kind: Kind, _ kept: KeptSubscription) throws -> JournalFact {
        let digest = Base64URL.encode(try SHA256Digest.of(Array(kept.endpoint.text.utf8)))
        return about(kept.enrollmentId, kind, with: ["endpoint": .string(digest)])
    }
}
