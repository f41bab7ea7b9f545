package import Keys

/// The place of an enrollment's private key.
package enum KeyPlace: Sendable, Equatable {
    /// The enrollment's row, sealed: the agent made the key.
    case own
    /// A place that the agent uses and never changes.
    case external(ExternalKey)

    /// The external key, or `nil` if the agent made the key.
    package var external: ExternalKey? {
        if case .external(let key) = self { key } else { nil }
    }
}

/// The reference to a key that is to be opened: its enrollment, its place, and the expected public key.
package struct KeyReference: Sendable {
    package let enrollment: EnrollmentID
    package let place: KeyPlace
    /// The public half, as registered, or `nil` before that.
    package let registered: PublicKey?
    /// The agent's own key, sealed by its custody, or `nil` if the key is elsewhere or gone.
    package let sealed: [UInt8]?

    package init(
        of enrollment: EnrollmentID, at place: KeyPlace, registered: PublicKey? = nil, sealed: [UInt8]? = nil
    ) {
        self.enrollment = enrollment
        self.place = place
        self.registered = registered
        self.sealed = sealed
    }
}

/// A key that a custody has made.
package struct MadeKey: Sendable {
    package let publicKey: PublicKey
    /// The private half, sealed for the store.
    package let sealed: [UInt8]

    package init(publicKey: PublicKey, sealed: [UInt8]) {
        self.publicKey = publicKey
        self.sealed = sealed
    }
}

extension EnrollmentID {
    /// The URI of its key if the agent made it, for people and errors.
    package var keyURI: String { "store:\(text)" }
}

/// A value in its previous sealed form and in its present one.
package struct Resealing: Sendable {
    package let from: [UInt8]
    package let to: [UInt8]

    package init(from: [UInt8], to: [UInt8]) {
        self.from = from
        self.to = to
    }
}

/// A key that the agent did not make, as found at the enrollment.
package struct ExternalKey: Sendable, Equatable {
    package let uri: KeyURI
    package let facts: ExternalKeyFacts
    /// The identity of the key, independent of the spelling of its URI.
    ///
    /// `nil` until the key is enrolled.
    package let identity: KeyIdentity?

    package init(uri: KeyURI, facts: ExternalKeyFacts, identity: KeyIdentity? = nil) {
        self.uri = uri
        self.facts = facts
        self.identity = identity
    }
}

/// Identity of a key that the agent did not make, for counting its wrong PINs.
///
/// It is a digest, which names no person and no path.
package struct KeyIdentity: Hashable, Sendable {
    /// SHA-256.
    package let bytes: [UInt8]

    /// Returns `nil` unless the bytes have the length of a digest.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }
}

/// The data of a key that a custody can read without its PIN.
package struct KeySighting: Sendable, Equatable {
    package let identity: KeyIdentity
    /// `nil` if it cannot be read without the PIN.
    package let publicKey: PublicKey?

    package init(identity: KeyIdentity, publicKey: PublicKey?) {
        self.identity = identity
        self.publicKey = publicKey
    }
}

/// The error for a key that cannot be used now.
///
/// It contains no PIN and no key material.
package struct CustodyError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Code: Sendable, Equatable, CaseIterable {
        /// The key requires a PIN, and none was given.
        case needsPIN
        case wrongPIN
        /// The device or file of the key accepts no PIN any more, or not for some time.
        case pinLocked
        /// A PIN was given, but it would not be checked.
        case takesNoPIN
        /// The answer did not come in time, so the outcome of a PIN is unknown.
        case silent
        /// The key is missing or defective.
        case unavailable
    }

    package let code: Code
    /// Whether it is about the PIN, so that it does not tell whether the key works.
    package var isAboutPIN: Bool {
        switch code {
        case .needsPIN, .wrongPIN, .pinLocked, .takesNoPIN: true
        case .silent, .unavailable: false
        }
    }
    /// A sentence: the key, the fault and the remedy.
    package let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Returns the error of an agent that can use only keys that it made.
    package static func notItsOwn(_ uri: KeyURI) -> CustodyError {
        CustodyError(.unavailable, "the key \(uri.text) is not one of the agent's own")
    }
}
