/// What became of a push notification.
public struct PushResponse: Sendable {
    /// It is about an authn request: `fetchAuthnRequest` is to be called next.
    public static let typeAuthn = "authn"
    /// It is nothing that this library knows; nothing was done with it.
    public static let typeUnknown = "unknown"
    /// Never given: this library knows no cards.
    public static let typeMessaging = "messaging"

    /// What an answer can hold.
    public enum Key: Sendable, CaseIterable {
        /// One of the types above; always there.
        case messageType
        /// Never there: this library knows no cards.
        case cardID
        /// Never there.
        case lastCallTimestamp
        /// Never there.
        case messageID
    }
}
