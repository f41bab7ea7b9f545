package import Keys

/// What is kept of a request only for a dispute: neither showing nor deciding needs it.
package struct KeptEvidence: Sendable, Equatable {
    /// The issuer's key that the signature of the request's message holds under.
    package var issuerKey: PublicKey?
    /// The text, byte for byte, as it was when the request was decided; until then, as it was last offered.
    package var text: String?
    /// The bytes of the decision, as they are sent.
    package var decision: [UInt8]?
    /// Whether some of it is not in the database as the agent wrote it; that is missing here.
    package var isDamaged = false

    package init(issuerKey: PublicKey? = nil, text: String? = nil, decision: [UInt8]? = nil) {
        self.issuerKey = issuerKey
        self.text = text
        self.decision = decision
    }
}
