package import IssuerProtocol
package import Keys
package import Records
import TextAndTime

/// The parameters of a new enrollment.
package struct EnrollmentParameters: Sendable {
    package let target: IssuerTarget
    package let code: EnrollmentCode
    package let authnType: AuthnType
    /// The trimmed name in Unicode's normalization form C (``TypedText``).
    package let name: String
    /// Whether a person chose the name.
    ///
    /// A chosen name that is taken is refused. A name that is not chosen gets a number in that case.
    package let isNameChosen: Bool
    /// The URI of an existing key, or `nil` if the agent makes the key.
    package let keyURI: KeyURI?
    /// The PIN of every approval, for authnType `pin`; of an existing key, the key's own PIN.
    package let pin: PIN?
    /// Whether pushes are wanted, if this agent can receive them.
    package let takesPush: Bool
    /// The persona of an enrollment of authnType `test`, as `Personas` wrote it, or `nil` if it has none.
    package var persona: String?

    package init(
        target: IssuerTarget, code: EnrollmentCode, authnType: AuthnType, name: String,
        isNameChosen: Bool = false, keyURI: KeyURI? = nil, pin: PIN? = nil, takesPush: Bool = true
    ) {
        self.target = target
        self.code = code
        self.authnType = authnType
        self.name = TypedText.name(name)
        self.isNameChosen = isNameChosen
        self.keyURI = keyURI
        self.pin = pin
        self.takesPush = takesPush
    }
}
