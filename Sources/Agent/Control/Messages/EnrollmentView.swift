/// One enrollment as clients see it.
///
/// A member without a value is left out.
package struct EnrollmentView: Codable, Sendable, Equatable {
    package var id: String
    package var issuer: String
    /// The issuer's id of the authenticator; absent until the issuer has answered.
    package var authenticatorId: String?
    /// WebAuthn's credential id, base64url.
    package var credentialId: String?
    /// COSE number of the signature algorithm (`-7` is ES256).
    package var algorithm: Int
    package var authnType: String
    /// Where the private key is kept; never the key.
    package var keyUri: String
    package var key: KeyView
    /// Absent if the key was not looked at yet.
    package var keyTest: KeyTestView?
    package var name: String
    package var state: EnrollmentState
    package var signCount: Int
    /// How messages come; absent if the enrollment is not pushed to.
    package var push: PushView?
    package var enrolledAt: String?
    /// Of authnType `pin`: how many more wrong PINs in a row are taken before it is blocked, or blocked again.
    package var pinTriesLeft: Int?
    /// If it is blocked, until when: RFC 3339, UTC.
    package var blockedUntil: String?
    package var warnings: [WarningView]?

    package init(
        id: String, issuer: String, algorithm: Int, authnType: String, keyUri: String, key: KeyView, name: String,
        state: EnrollmentState, signCount: Int
    ) {
        self.id = id
        self.issuer = issuer
        self.algorithm = algorithm
        self.authnType = authnType
        self.keyUri = keyUri
        self.key = key
        self.name = name
        self.state = state
        self.signCount = signCount
    }
}

/// What is known of an enrollment's private key.
package struct KeyView: Codable, Sendable, Equatable {
    /// The place that keeps it: `file`, `store` (sealed in the enrollment's row), `pkcs11` or `tpm`.
    package var kind: String
    /// Whether it can leave that place; absent if that cannot be told.
    package var exportable: Bool?

    package init(kind: String, exportable: Bool?) {
        self.kind = kind
        self.exportable = exportable
    }
}

/// Where an enrollment is in its life.
package enum EnrollmentState: String, Codable, Sendable, CaseIterable {
    case enrolling, active, suspended, blocked
}

/// What an unenroll answers; the same for an enrollment that was there and for one that is gone.
package struct UnenrolledView: Codable, Sendable, Equatable {
    package var id: String
    package var unenrolled: Bool
    /// Whether there was an enrollment to end.
    package var wasEnrolled: Bool
    /// Whether its personal data is gone; absent if that was not asked for, false if the agent still is at it.
    package var erased: Bool?
    /// Where its key stays, which the agent did not make and so does not delete; absent if the agent made it.
    package var keptKeyUri: String?

    package init(
        id: String, unenrolled: Bool = true, wasEnrolled: Bool, erased: Bool? = nil, keptKeyUri: String? = nil
    ) {
        self.id = id
        self.unenrolled = unenrolled
        self.wasEnrolled = wasEnrolled
        self.erased = erased
        self.keptKeyUri = keptKeyUri
    }
}

/// The last look at an enrollment's key since the agent started.
package struct KeyTestView: Codable, Sendable, Equatable {
    /// The extent of the look: `seal` (it opens under the agent's secret, as far as that shows without its PIN) or
    /// `signature` (it signed, and its public half verified that).
    package var extent: String
    package var at: String
    package var passed: Bool
    /// Why the key cannot be used; absent if it can.
    package var problem: String?

    package init(extent: String, at: String, problem: String?) {
        self.extent = extent
        self.at = at
        passed = problem == nil
        self.problem = problem
    }
}

/// One half of an enrollment's key: the answer of `GET /v1/enrollments/{id}/key` and `…/public-key`.
package struct KeyExportView: Codable, Sendable, Equatable {
    /// The enrollment's id.
    package var id: String
    package var keyUri: String
    /// PEM; absent if the sealed half was asked for.
    package var publicKey: String?
    /// The private half as it is stored, sealed: PEM of the label `OOB-AGENT SEALED KEY`; absent if the public half was
    /// asked for.
    package var sealedKey: String?

    package init(id: String, keyUri: String, publicKey: String? = nil, sealedKey: String? = nil) {
        self.id = id
        self.keyUri = keyUri
        self.publicKey = publicKey
        self.sealedKey = sealedKey
    }
}
