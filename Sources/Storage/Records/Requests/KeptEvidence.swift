package import Keys

/// The data of a request that is kept only for a dispute, and that is not needed to show or decide it.
package struct KeptEvidence: Sendable, Equatable {
    /// The issuer's key that verifies the signature of the request's message.
    package var issuerKey: PublicKey?
    /// The text, byte for byte, as of the decision; before the decision, as last offered.
    package var text: String?
    /// The bytes of the decision, as sent.
    package var decision: [UInt8]?
    /// Whether a part differs from what the agent wrote; that part is missing here.
    package var isDamaged = false

    package init(issuerKey: PublicKey? = nil, text: String? = nil, decision: [UInt8]? = nil) {
        self.issuerKey = issuerKey
        self.text = text
        self.decision = decision
    }
}
