import IssuerProtocol
import Keys
import StrictJSON

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
        return about(kept.enrollmentId, kind, ["endpoint": .string(digest)])
    }
}
