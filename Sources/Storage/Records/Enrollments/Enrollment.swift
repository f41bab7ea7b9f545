package import IssuerProtocol
package import Keys
import WebAuthn

/// An authenticator at one issuer.
///
/// Changes of it in the store are made by an ``EnrollmentTransition``.
package struct Enrollment: Sendable {
    package let id: EnrollmentID
    package let target: IssuerTarget
    /// The name for people, unique among the enrollments that have not ended, except in old databases.
    package internal(set) var name: String
    package let authnType: AuthnType
    /// COSE algorithm number.
    package let algorithm: Int
    package let rpId: String
    package let credentialId: [UInt8]
    /// WebAuthn's `user.id`, which is returned as `userHandle`.
    package let userHandle: [UInt8]
    /// Seconds since 1970.
    package let startedAt: Int64
    /// The place of the private key.
    package internal(set) var key: KeyPlace
    /// Whether its issuer may send push messages.
    package let takesPush: Bool
    /// The public half of its key, as registered, or `nil` once it is erased.
    package internal(set) var credentialKey: PublicKey?
    /// The private half, sealed by the agent's custody.
    ///
    /// `nil` if the agent did not make the key, and once the enrollment has ended.
    package internal(set) var sealedKey: [UInt8]?
    /// The greatest signCount that this agent committed for the credential.
    package internal(set) var signCount: UInt32
    package internal(set) var state: EnrollmentState
    /// The wrong PINs, for authnType `pin` with a key of the agent's own.
    package internal(set) var ownPINTries: PINTries
    /// The wrong PINs of its key, through any enrollment, or `nil` for a key of the agent's own.
    package let keyTries: PINTries?
    /// Whether its PIN is among the first that an attacker would try; `false` if it has none.
    package internal(set) var isPINGuessable: Bool
    /// The last finding that this state was an old copy, or `nil` if there was none.
    package internal(set) var signCountRaise: SignCountRaise?
    /// The signCount that the issuer refused, or that a restored copy has.
    ///
    /// `nil` if there is none, or once the issuer has stated which signCount it accepted. Until then the agent does not
    /// sign.
    package internal(set) var refusedSignCount: UInt32?
    /// The reason for giving it up, or `nil` if it was not given up.
    package internal(set) var endReason: String?
    /// The time at which it ended, in seconds since 1970, or `nil` if it has not.
    package private(set) var endedAt: Int64?
    /// The newest entry of the journal when its row was written.
    package var journalSequence: Int64 = 0
    /// The host of the chain that has this entry, or `nil` if the store has one chain.
    package var journalHost: String?
    /// The number of times that its row was written; 0 before the first.
    package var version: Int64 = 0
    /// The number of times that its count of wrong PINs fell.
    package var pinEpoch: Int64 = 0
    /// Whether its row differs from what the agent wrote, so that no value in it may be trusted or used.
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

    /// Returns a copy with its assigned name, its key, and the body that its issuer is sent.
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

    /// Ends it permanently, and deletes its key if the agent made it.
    mutating func end(at now: Int64) {
        sealedKey = nil
        state = .ended(authenticatorId: membership?.authenticatorId)
        endedAt = now
    }

    /// The wrong PINs that decide about its next try: the external key's, or its own.
    package var pinTries: PINTries { keyTries ?? ownPINTries }

    /// Whether an approval can claim user verification.
    package var canVerifyUser: Bool { authnType.verifiesUser }

    /// Whether it has ended, permanently.
    package var isOver: Bool {
        if case .ended = state { true } else { false }
    }

    /// The data from the issuer, if it has accepted the registration.
    ///
    /// `nil` for a damaged row, and after the end.
    package var membership: Membership? {
        if isDamaged { return nil }
        return switch state {
        case .active(let membership), .suspended(let membership): membership
        case .enrolling, .ended: nil
        }
    }
}

extension AuthnType {
    /// Whether an approval verifies the user.
    ///
    /// A PIN approval does. A test authenticator is declared to claim it. Presence never does.
    package var verifiesUser: Bool { self != .presence }
}

/// A raise of the signCount, because the issuer had accepted a greater one than this agent knew.
///
/// Either the state was an old copy, or another party has the key.
package struct SignCountRaise: Sendable, Equatable {
    /// The agent's signCount before.
    package let from: UInt32
    /// The issuer's signCount.
    package let to: UInt32
    /// Seconds since 1970.
    package let at: Int64
    /// Whether the issuer's count ever rose while this agent ran, so that another party must have signed.
    package let isElsewhere: Bool

    package init(from: UInt32, to: UInt32, at: Int64, isElsewhere: Bool = false) {
        self.from = from
        self.to = to
        self.at = at
        self.isElsewhere = isElsewhere
    }
}

/// The data that an issuer returned when it accepted a registration.
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

/// The stage of an enrollment.
package enum EnrollmentState: Sendable {
    /// The key and the body were stored together; the same bytes are sent until the issuer has answered.
    case enrolling(body: [UInt8])
    case active(Membership)
    /// The issuer no longer knows the token; the key stays.
    case suspended(Membership)
    /// The end; the row stays for deduplication, without the key.
    case ended(authenticatorId: TokenID?)
}

extension Enrollment {
    /// The message about a damaged row, with the remedy.
    package var damage: String {
        "the row of enrollment \(id) in the database is not as the agent wrote it: nothing of it is used; find out who "
            + "writes to the database, and restore a backup (or end it: oobctl unenroll \(id) --local --force)"
    }

    /// Throws `CommandError` if its row differs from what the agent wrote.
    package func expectWhole(for request: RequestRecord? = nil) throws {
        guard isDamaged else { return }
        throw CommandError(.keyUnavailable, damage, request: request)
    }
}
