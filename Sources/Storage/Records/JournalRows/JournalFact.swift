package import StrictJSON

/// An event for the journal, in ids, digests and numbers.
///
/// It never contains personal text (no merchant, amount, name or URL), so that erasing a person's data leaves the chain
/// whole.
package struct JournalFact: Sendable {
    /// The kind of event; the member `entry` of an entry.
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
    /// The members of this kind.
    let members: JSONObject

    package init(_ kind: Kind, _ members: JSONObject = [:]) {
        self.kind = kind
        self.members = members
    }
}
