/// The body of `POST /v1/enrollments`.
package struct EnrollCommand: Encodable, Sendable, Equatable {
    package var issuer: String
    package var code: String
    /// `pin`, `presence` or `test`.
    ///
    /// The agent's default if absent.
    package var authnType: String?
    /// The name that a person gives to this enrollment.
    package var name: String?
    /// PEM text of the roots that replace the system's for this issuer.
    package var caFile: String?
    /// The location of an existing key pair to use.
    ///
    /// If absent, the agent makes a key pair.
    package var keyUri: String?
    /// For authnType `pin`: the PIN that every approval will require.
    package var pin: PINText?
    /// `false` if the issuer must not push.
    package var push: Bool?
    /// For authnType `test`: the persona that plays its cardholder.
    package var persona: PersonaCommand?

    package init(
        issuer: String, code: String, authnType: String? = nil, name: String? = nil, caFile: String? = nil,
        keyUri: String? = nil, pin: PINText? = nil, push: Bool? = nil, persona: PersonaCommand? = nil
    ) {
        self.issuer = issuer
        self.code = code
        self.authnType = authnType
        self.name = name
        self.caFile = caFile
        self.keyUri = keyUri
        self.pin = pin
        self.push = push
        self.persona = persona
    }
}

/// The body of `DELETE /v1/enrollments/{id}`.
package struct UnenrollCommand: Encodable, Sendable, Equatable {
    /// Whether to end the enrollment here only, without a call to the issuer.
    package var local: Bool?
    /// Whether to skip the wait for decisions that are not delivered yet.
    package var force: Bool?
    /// Whether to remove its personal data as well, even if it has already ended.
    package var erase: Bool?

    package init(local: Bool? = nil, force: Bool? = nil, erase: Bool? = nil) {
        self.local = local
        self.force = force
        self.erase = erase
    }
}

/// The body of `POST /v1/enrollments/{id}/pin`.
package struct PINChangeCommand: Encodable, Sendable, Equatable {
    /// The current PIN.
    package var pin: PINText
    package var newPin: PINText

    package init(pin: PINText, newPin: PINText) {
        self.pin = pin
        self.newPin = newPin
    }
}

/// The body of `POST /v1/fetch`.
package struct FetchCommand: Encodable, Sendable, Equatable {
    /// The enrollment to fetch for.
    ///
    /// If absent, the agent fetches for all.
    package var enrollment: String?

    package init(enrollment: String? = nil) {
        self.enrollment = enrollment
    }
}

// Both contain the issuer's enrollment code, which is a secret until it is used. Text about them leaves the code out.
// Only a request body contains it.

extension EnrollCommand: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "enroll at \(issuer) with <redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension EnrollLink: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "link of \(issuer) with <redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
