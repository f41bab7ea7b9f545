package import Keys

/// Where the private key of an enrollment is kept.
package enum KeyPlace: Sendable, Equatable {
    /// With the agent, which made it, under the enrollment's id.
    case own
    /// In a place that the agent uses and never changes.
    case outside(OutsideKey)

    /// Nil where the agent made the key.
    package var outside: OutsideKey? {
        if case .outside(let key) = self { key } else { nil }
    }
}

/// A key that the agent did not make, as it was found when it was enrolled.
package struct OutsideKey: Sendable, Equatable {
    package let uri: KeyURI
    package let facts: OutsideKeyFacts

    package init(uri: KeyURI, facts: OutsideKeyFacts) {
        self.uri = uri
        self.facts = facts
    }
}

/// Why a key cannot be used now.
///
/// Carries no PIN and nothing of the key.
package struct KeyFailure: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Code: Sendable, Equatable, CaseIterable {
        /// It takes a PIN, and none was given.
        case needsPIN
        case wrongPIN
        /// What keeps the key takes no PIN any more, or for some time.
        case pinLocked
        /// A PIN was given that nothing would check.
        case takesNoPIN
        /// It is not there, or not in order, or does not answer.
        case unavailable
    }

    package let code: Code
    /// One sentence: which key, what is wrong, what to do.
    package let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

extension CommandFailure {
    /// Nothing was signed.
    init(_ failure: KeyFailure, request: RequestRecord? = nil) {
        let code: Code =
            switch failure.code {
            case .needsPIN, .wrongPIN: .userNotVerified
            case .pinLocked: .blocked
            case .takesNoPIN: .invalidArgument
            case .unavailable: .keyUnavailable
            }
        self.init(code, failure.description, request: request)
    }
}
