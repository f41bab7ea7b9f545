/// The evidence of one request, for a dispute: the answer of `GET /v1/requests/{id}/evidence`.
///
/// A member without a value is left out: it does not exist, or the agent does not keep it. Bytes are base64url.
package struct EvidenceView: Codable, Sendable, Equatable {
    /// The agent's version.
    package var version: String
    package var request: RequestView
    package var authenticatorId: String?
    /// Whether personal data of the enrollment was erased, and with it that of this request.
    package var erased: Bool
    /// The compact JWS as received.
    package var message: String?
    /// The issuer's key that verifies the signature of the message.
    package var issuerKey: IssuerKeyView?
    package var nonce: String?
    /// The transaction in its canonical form (RFC 8785).
    package var transaction: String?
    /// The text at the time of the decision.
    ///
    /// Before a decision, the text that was offered last.
    package var text: String?
    /// The exact body that is sent to the issuer.
    package var decision: String?
    package var assertion: AssertionView?
    package var credential: CredentialView
    package var journal: JournalExtractView

    package init(
        version: String, request: RequestView, erased: Bool, credential: CredentialView, journal: JournalExtractView
    ) {
        self.version = version
        self.request = request
        self.erased = erased
        self.credential = credential
        self.journal = journal
    }
}

/// A key that an issuer signs its requests with.
package struct IssuerKeyView: Codable, Sendable, Equatable {
    /// A JSON Web Key with its required members only, in canonical form: the input of its thumbprint (RFC 7638).
    package var jwk: String
    /// PEM.
    package var publicKey: String

    package init(jwk: String, publicKey: String) {
        self.jwk = jwk
        self.publicKey = publicKey
    }
}

/// An assertion (WebAuthn §5.2.2), as contained in the decision.
package struct AssertionView: Codable, Sendable, Equatable {
    package var clientDataJSON: String
    package var authenticatorData: String
    package var signature: String

    package init(clientDataJSON: String, authenticatorData: String, signature: String) {
        self.clientDataJSON = clientDataJSON
        self.authenticatorData = authenticatorData
        self.signature = signature
    }
}

/// The credential that made an assertion.
package struct CredentialView: Codable, Sendable, Equatable {
    package var id: String
    package var rpId: String
    /// `ES256`, `ES384` or `EdDSA`.
    package var algorithm: String
    /// PEM.
    package var publicKey: String?

    package init(id: String, rpId: String, algorithm: String, publicKey: String? = nil) {
        self.id = id
        self.rpId = rpId
        self.algorithm = algorithm
        self.publicKey = publicKey
    }
}

/// The journal's entries about a request, with a signature by the audit key.
package struct JournalExtractView: Codable, Sendable, Equatable {
    /// The bytes of the entries as hashed, oldest first.
    package var entries: [String]
    /// The statement that the audit key has signed: the digests of the head and of each entry.
    package var statement: String?
    /// The signature over the statement, as a DER ECDSA-Sig-Value.
    package var signature: String?
    /// The audit key's public half, PEM.
    package var publicKey: String?
    /// The first entry of the journal that is not intact.
    ///
    /// If there is one, the agent signs no statement.
    package var fault: AuditFaultView?

    package init(
        entries: [String], statement: String? = nil, signature: String? = nil, publicKey: String? = nil,
        fault: AuditFaultView? = nil
    ) {
        self.entries = entries
        self.statement = statement
        self.signature = signature
        self.publicKey = publicKey
        self.fault = fault
    }
}
