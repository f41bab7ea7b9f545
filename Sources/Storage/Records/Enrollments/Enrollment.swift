package import IssuerProtocol
package import Keys
import WebAuthn

/// One authenticator at one issuer.
///
/// What changes of it in the store, an ``EnrollmentTransition`` changes.
package struct Enrollment: Sendable {
    package let id: EnrollmentID
    package let target: IssuerTarget
    /// What a person calls it: no other enrollment that has not ended has this name, except in old databases.
    package internal(set) var name: String
    package let authnType: AuthnType
    /// COSE algorithm number.
    package let algorithm: Int
    package let rpId: String
    package let credentialId: [UInt8]
    /// WebAuthn's `user.id`, which comes back as `userHandle`.
    package let userHandle: [UInt8]
    /// Seconds since 1970.
    package let startedAt: Int64
    /// Where its private key is kept.
    package internal(set) var key: KeyPlace
    /// Whether its issuer may push.
    package let takesPush: Bool
    /// The public half of its key, as it was registered; nil once it is erased.
    package internal(set) var credentialKey: PublicKey?
    /// The private half, sealed by the agent's custody; nil if the agent did not make it, and once the enrollment is over.
    package internal(set) var sealedKey: [UInt8]?
    /// The greatest signCount that this agent committed for the credential.
    package internal(set) var signCount: UInt32
    package internal(set) var state: EnrollmentState
    /// Of authnType `pin`, with a key of the agent's own: the tries that were wrong.
    package internal(set) var ownPINTries: PINTries
    /// The wrong PINs of its key, through this enrollment and others; nil for a key of the agent's own.
    package let keyTries: PINTries?
    /// Whether its PIN is among the first that anyone would try; false if it has none.
    package internal(set) var isPINGuessable: Bool
    /// When this state was last found to be an old copy; nil if it never was.
    package internal(set) var signCountRaise: SignCountRaise?
    /// The signCount that its issuer refused, or that a restored copy has; nil if nothing is open.
    ///
    /// Nothing is signed until the issuer has said which signCount it accepted.
    package internal(set) var refusedSignCount: UInt32?
    /// Why it was given up; nil if it was not.
    package internal(set) var endReason: String?
    /// When it ended, seconds since 1970; nil while it has not.
    package private(set) var endedAt: Int64?
    /// The newest entry of the journal when its row was written.
    package var journalSequence: Int64 = 0
    /// In whose chain that entry is; nil if the store has one chain.
    package var journalHost: String?
    /// Number of times that its row was written; 0 before the first.
    package var version: Int64 = 0
    /// Number of times that its count of wrong PINs fell.
    package var pinEpoch: Int64 = 0
    /// Whether its row is not as the agent wrote it, so that nothing in it is to be believed or used.
    package var isDamaged = false

    package init(
        id: EnrollmentID, target: IssuerTarget, name: String, authnType: AuthnType, algorithm: Int, rpId: String,
        credentialId: [UInt8], userHandle: [UInt8], startedAt: Int64, key: KeyPlace = .own,
        takesPush: Bool = true,
        credentialKey: PublicKey? = nil, sealedKey: [UInt8]? = nil, signCount: UInt32, state: EnrollmentState,
        ownPINTries: PINTries = .fresh,
        keyTries: PINTries? = nil, isPINGuessable: Bool = false,
        signCountRaise: SignCountRaise? = nil, refusedSignCount: UInt32? = nil,
        endReason: String? = nil, endedAt: Int64? = nil
    ) {
        self.id = id
        self.target = target
        self.name = name
        self.authnType = authnType
        self.algorithm = algorithm
        self.rpId = rpId
        self.credentialId = credentialId
        self.userHandle = userHandle
        self.startedAt = startedAt
        self.key = key
        self.takesPush = takesPush
        self.credentialKey = credentialKey ?? key.external?.facts.publicKey
        self.sealedKey = sealedKey
        self.signCount = signCount
        self.state = state
        self.ownPINTries = ownPINTries
        self.keyTries = keyTries
        self.isPINGuessable = isPINGuessable
        self.signCountRaise = signCountRaise
        self.refusedSignCount = refusedSignCount
        self.endReason = endReason
        self.endedAt = endedAt
    }

    /// A copy with the name that it got, with its key, and with what its issuer is sent.
    package func begun(
        as name: String, publicKey: PublicKey, sealedKey: [UInt8]?, sending body: [UInt8]
    ) -> Enrollment {
        var enrollment = self
        enrollment.name = name
        enrollment.credentialKey = publicKey
        enrollment.sealedKey = sealedKey
        enrollment.state = .enrolling(body: body)
        return enrollment
    }

    /// Ends it for good, and its key if the agent made that.
    mutating func end(at now: Int64) {
        sealedKey = nil
        state = .ended(authenticatorId: membership?.authenticatorId)
        endedAt = now
    }

    /// The tries that count for its next one.
    package var pinTries: PINTries { keyTries ?? ownPINTries }

    /// Whether an approval can claim user verification.
    package var canVerifyUser: Bool { authnType.verifiesUser }

    /// Whether it has ended, for good.
    package var isOver: Bool {
        if case .ended = state { true } else { false }
    }

    /// What the issuer gave, if the issuer has accepted the registration; nothing of a damaged row.
    package var membership: Membership? {
        if isDamaged { return nil }
        return switch state {
        case .active(let membership), .suspended(let membership): membership
        case .enrolling, .ended: nil
        }
    }
}

extension AuthnType {
    /// PIN approvals verify the user; a test authenticator is declared to claim it; presence never does.
    package var verifiesUser: Bool { self != .presence }
}

/// The issuer had accepted a greater signCount than this agent knew of.
///
/// Its state was an old copy, or someone else has the key.
package struct SignCountRaise: Sendable, Equatable {
    /// The agent's own before.
    package let from: UInt32
    /// The issuer's.
    package let to: UInt32
    /// Seconds since 1970.
    package let at: Int64
    /// Whether the issuer's count ever rose while this agent ran: then it was someone else.
    package let isElsewhere: Bool

    package init(from: UInt32, to: UInt32, at: Int64, isElsewhere: Bool = false) {
        self.from = from
        self.to = to
        self.at = at
        self.isElsewhere = isElsewhere
    }
}

/// What an issuer gave when it accepted a registration.
package struct Membership: Sendable, Equatable {
    package let authenticatorId: TokenID
    /// The access token, sealed under the agent's secret.
    package let sealedToken: [UInt8]
    /// Seconds since 1970.
    package let enrolledAt: Int64

    package init(authenticatorId: TokenID, sealedToken: [UInt8], enrolledAt: Int64) {
        self.authenticatorId = authenticatorId
        self.sealedToken = sealedToken
        self.enrolledAt = enrolledAt
    }
}

/// How far an enrollment has come.
package enum EnrollmentState: Sendable {
    /// Key and body came into the store together; the same bytes are sent until the issuer has answered.
    case enrolling(body: [UInt8])
    case active(Membership)
    /// The issuer no longer knows the token; the key stays.
    case suspended(Membership)
    /// Over. The row stays for dedup, without the key.
    case ended(authenticatorId: TokenID?)
}

extension Enrollment {
    /// What is wrong with a damaged one, and what to do.
    package var damage: String {
        "the row of enrollment \(id) in the database is not as the agent wrote it: nothing of it is used; find out who "
            + "writes to the database, and restore a backup (or end it: oobctl unenroll \(id) --local --force)"
    }

    /// Throws `CommandError` if its row is not as the agent wrote it.
    package func expectWhole(for request: RequestRecord? = nil) throws {
        guard isDamaged else { return }
        throw CommandError(.keyUnavailable, damage, request: request)
    }
}
