import Keys
package import StrictJSON
package import ThreeDS

/// An error that prevents a commitment from being computed.
package enum CommitmentError: Error, Equatable, Sendable {
    /// The transaction contains a number without a canonical form.
    ///
    /// A transaction that was checked contains none.
    case notCanonical(RFC8785Error)
    /// The hash failed, with OpenSSL's message.
    case digest(String)
}

/// The challenge that commits to every member of a transaction (PSD2 RTS Article 5, dynamic linking).
package enum ChallengeCommitment {
    private static let challengeDomain = "oob-authn-v1"
    private static let sameTransactionDomain = "oob-same-transaction-v1"

    /// Returns SHA-256("oob-authn-v1" || 0x00 || nonce || JCS(transaction)): 32 bytes.
    package static func challenge(nonce: [UInt8], transaction: JSONObject) throws(CommitmentError) -> [UInt8] {
        try digest(challengeDomain, nonce + transactionBytes(transaction))
    }

    package static func challenge(
        nonce: [UInt8], transaction: [TransactionMember]
    ) throws(CommitmentError) -> [UInt8] {
        try challenge(nonce: nonce, transaction: object(transaction))
    }

    /// Returns the transaction in canonical form (RFC 8785).
    package static func transactionBytes(_ transaction: JSONObject) throws(CommitmentError) -> [UInt8] {
        do {
            return try RFC8785.canonical(.object(transaction))
        } catch {
            throw .notCanonical(error)
        }
    }

    package static func transactionBytes(_ members: [TransactionMember]) throws(CommitmentError) -> [UInt8] {
        try transactionBytes(object(members))
    }

    /// Returns 32 bytes that identify the question to the payer.
    ///
    /// They are equal exactly for requests that ask the same question, even if `jti`, nonce and times differ.
    ///
    /// The digest covers every member (acsTransId without regard to case), the required user verification, and the form
    /// of the assertion. It stays in one agent and is never signed, so it has a domain of its own.
    package static func transactionDigest(
        _ transaction: Transaction, userVerification: String, payment: PaymentExtension?
    ) throws(CommitmentError) -> [UInt8] {
        var members = object(transaction.members)
        members["acsTransId"] = .string(transaction.acsTransId.canonical)
        var asked: JSONObject = ["transaction": .object(members), "userVerification": .string(userVerification)]
        asked["payment"] = payment.map { .object($0.json) }
        return try digest(sameTransactionDomain, transactionBytes(asked))
    }

    private static func object(_ members: [TransactionMember]) -> JSONObject {
        JSONObject(members.map { JSONObject.Member(name: $0.name, value: .string($0.value)) })
    }

    private static func digest(_ domain: String, _ bytes: [UInt8]) throws(CommitmentError) -> [UInt8] {
        do {
            return try SHA256Digest.of(Array(domain.utf8) + [0x00] + bytes)
        } catch {
            throw .digest("\(error)")
        }
    }
}
