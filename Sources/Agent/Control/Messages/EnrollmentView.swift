/// An enrollment as clients see it.
///
/// A member without a value is left out.
package struct EnrollmentView: Codable, Sendable, Equatable {
    package var id: String
    package var issuer: String
    /// The issuer's id of the authenticator.
    ///
    /// Absent until the issuer has answered.
    package var authenticatorId: String?
    /// WebAuthn's credential id, base64url.
    package var credentialId: String?
    /// The COSE number of the signature algorithm (`-7` is ES256).
    package var algorithm: Int
    package var authnType: String
    /// The location of the private key, never the key itself.
    package var keyUri: String
    package var key: KeyView
    /// The last test of the key.
    ///
    /// Absent if the key was not tested yet.
    package var keyTest: KeyTestView?
    package var name: String
    package var state: EnrollmentState
    package var signCount: Int
    /// The counts of pushes and polls.
    ///
    /// Absent if the issuer does not push to the enrollment.
    package var push: PushView?
    package var enrolledAt: String?
    /// For authnType `pin`: the wrong PINs in a row that are left before it is blocked, or blocked again.
    package var pinTriesLeft: Int?
    /// The end of the block, if it is blocked: RFC 3339, UTC.
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

/// The known facts about an enrollment's private key.
package struct KeyView: Codable, Sendable, Equatable {
    /// The place that keeps it: `file`, `store` (sealed in the enrollment's row), `pkcs11` or `tpm`.
    package var kind: String
    /// Whether it can leave that place.
    ///
    /// Absent if the agent cannot find out.
    package var exportable: Bool?

    package init(kind: String, exportable: Bool?) {
        self.kind = kind
        self.exportable = exportable
    }
}

/// The state of an enrollment.
package enum EnrollmentState: String, Codable, Sendable, CaseIterable {
    case enrolling, active, suspended, blocked
}

/// The answer to an unenroll.
///
/// It has the same form if the enrollment was already gone.
package struct UnenrolledView: Codable, Sendable, Equatable {
    package var id: String
    package var unenrolled: Bool
    /// Whether an enrollment existed and was ended.
    package var wasEnrolled: Bool
    /// Whether its personal data is gone.
    ///
    /// Absent if no erasure was requested. `false` if the agent still works on it.
    package var erased: Bool?
    /// The location of a key that remains because the agent did not make it.
    ///
    /// Absent if the agent made the key.
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

/// The last test of an enrollment's key since the agent started.
package struct KeyTestView: Codable, Sendable, Equatable {
    /// The extent of the test: `seal` or `signature`.
    ///
    /// `seal`: the key opens under the agent's secret, as far as this can be tested without its PIN. `signature`: the
    /// key signed, and its public half verified the signature.
    package var extent: String
    package var at: String
    package var passed: Bool
    /// The reason why the key cannot be used.
    ///
    /// Absent if it can.
    package var problem: String?

    package init(extent: String, at: String, problem: String?) {
        self.extent = extent
        self.at = at
        passed = problem == nil
        self.problem = problem
    }
}

/// Either half of an enrollment's key: the answer of `GET /v1/enrollments/{id}/key` and `…/public-key`.
package struct KeyExportView: Codable, Sendable, Equatable {
    /// The enrollment's id.
    package var id: String
    package var keyUri: String
    /// PEM.
    ///
    /// Absent if the sealed half was requested.
    package var publicKey: String?
    /// The sealed private half as stored: PEM with the label `OOB-AGENT SEALED KEY`.
    ///
    /// Absent if the public half was requested.
    package var sealedKey: String?

    package init(id: String, keyUri: String, publicKey: String? = nil, sealedKey: String? = nil) {
        self.id = id
        self.keyUri = keyUri
        self.publicKey = publicKey
        self.sealedKey = sealedKey
    }
}
