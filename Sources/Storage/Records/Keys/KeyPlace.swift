package import Keys

/// Where the private key of an enrollment is kept.
package enum KeyPlace: Sendable, Equatable {
    /// In the enrollment's row, sealed: the agent made it.
    case own
    /// In a place that the agent uses and never changes.
    case external(ExternalKey)

    /// Nil if the agent made the key.
    package var external: ExternalKey? {
        if case .external(let key) = self { key } else { nil }
    }
}

/// Which key is to be opened: whose it is, where it is kept, and which one it must be.
package struct KeyReference: Sendable {
    package let enrollment: EnrollmentID
    package let place: KeyPlace
    /// The public half, as it was registered; nil while there is none.
    package let registered: PublicKey?
    /// The key of the agent's own, sealed by its custody; nil if it is elsewhere, or gone.
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
    /// The private half, sealed, for the store to keep.
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

/// The same that was sealed one way, and is now sealed another.
package struct Resealing: Sendable {
    package let from: [UInt8]
    package let to: [UInt8]

    package init(from: [UInt8], to: [UInt8]) {
        self.from = from
        self.to = to
    }
}

/// A key that the agent did not make, as it was found when it was enrolled.
package struct ExternalKey: Sendable, Equatable {
    package let uri: KeyURI
    package let facts: ExternalKeyFacts
    /// Which key it is, however its URI is spelled.
    ///
    /// Nil until it is enrolled.
    package let identity: KeyIdentity?

    package init(uri: KeyURI, facts: ExternalKeyFacts, identity: KeyIdentity? = nil) {
        self.uri = uri
        self.facts = facts
        self.identity = identity
    }
}

/// Identifies a key that the agent did not make, so that its wrong PINs are counted.
///
/// A digest, which names no person and no path.
package struct KeyIdentity: Hashable, Sendable {
    /// SHA-256.
    package let bytes: [UInt8]

    /// Nil for what is no digest.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }
}

/// What a custody sees of a key without its PIN.
package struct KeySighting: Sendable, Equatable {
    package let identity: KeyIdentity
    /// Nil if it is not seen without the PIN.
    package let publicKey: PublicKey?

    package init(identity: KeyIdentity, publicKey: PublicKey?) {
        self.identity = identity
        self.publicKey = publicKey
    }
}

/// Why a key cannot be used now.
///
/// Carries no PIN and nothing of the key.
package struct CustodyError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Code: Sendable, Equatable, CaseIterable {
        /// It takes a PIN, and none was given.
        case needsPIN
        case wrongPIN
        /// What keeps the key takes no PIN any more, or for some time.
        case pinLocked
        /// A PIN was given that nothing would check.
        case takesNoPIN
        /// It did not answer in time: what it did with a PIN is not known.
        case silent
        /// It is not there, or not in order.
        case unavailable
    }

    package let code: Code
    /// One sentence: which key, what is wrong, what to do.
    package let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// The agent can use no key but those that it made.
    package static func notItsOwn(_ uri: KeyURI) -> CustodyError {
        CustodyError(.unavailable, "the key \(uri.text) is not one of the agent's own")
    }
}
