/// The body of `POST /v1/enrollments`.
package struct EnrollCommand: Encodable, Sendable, Equatable {
    package var issuer: String
    package var code: String
    /// `pin`, `presence` or `test`; the agent's default if absent.
    package var authnType: String?
    /// What a person calls this enrollment.
    package var name: String?
    /// PEM text of the roots that replace the system's for this issuer.
    package var caFile: String?
    /// Where a key pair is that is to be used; the agent makes one if absent.
    package var keyUri: String?
    /// Of authnType `pin`: what every approval is to take.
    package var pin: PINText?
    /// False: the issuer is not to push.
    package var push: Bool?
    /// Of authnType `test`: who plays its cardholder.
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
    /// Ends it here only; the issuer is not told.
    package var local: Bool?
    /// Does not wait for decisions that are not delivered yet.
    package var force: Bool?
    /// Removes its personal data as well, also if it has ended before.
    package var erase: Bool?

    package init(local: Bool? = nil, force: Bool? = nil, erase: Bool? = nil) {
        self.local = local
        self.force = force
        self.erase = erase
    }
}

/// The body of `POST /v1/enrollments/{id}/pin`.
package struct PINChangeCommand: Encodable, Sendable, Equatable {
    /// The PIN that it has.
    package var pin: PINText
    package var newPin: PINText

    package init(pin: PINText, newPin: PINText) {
        self.pin = pin
        self.newPin = newPin
    }
}

/// The body of `POST /v1/fetch`.
package struct FetchCommand: Encodable, Sendable, Equatable {
    /// Fetches for this enrollment only.
    package var enrollment: String?

    package init(enrollment: String? = nil) {
        self.enrollment = enrollment
    }
}

// Both hold the issuer's enrollment code, a secret until it is used: text shows the rest, and only a request body the
// code.

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
