package import StrictJSON

/// What the journal tells: one thing that happened, in ids, digests and numbers.
///
/// No personal text is ever in it (no merchant, amount, name or URL), so that erasing a person's data leaves the chain
/// whole.
package struct JournalFact: Sendable {
    /// What happened; the member `entry` of an entry.
    package enum Kind: String, Sendable, CaseIterable {
        case auditKeyMade, started, stopped, secretChanged, headAccepted, clockAccepted, commanded
        case enrolled, enrollmentGivenUp, suspended, resumed, signCountRaised, unenrolled, erased
        case notVerified, verified, blocked, pinTriesPutBack, pinChanged
        case pushMade, pushRegistered, pushRemoved
        case received, presented, superseded, duplicate, conflict, refused, expired, cancelled
        case decided, sent, answered, deliveryFailed
        case clockAdvanced
        case played
        case hostsSeen
        case moved
    }

    let kind: Kind
    /// The kind's own members.
    let members: JSONObject

    package init(_ kind: Kind, _ members: JSONObject = [:]) {
        self.kind = kind
        self.members = members
    }
}
