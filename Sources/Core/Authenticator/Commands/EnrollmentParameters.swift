package import IssuerProtocol
package import Keys
package import Records
import TextAndTime

/// The parameters of a new enrollment.
package struct EnrollmentParameters: Sendable {
    package let target: IssuerTarget
    package let code: EnrollmentCode
    package let authnType: AuthnType
    /// As it counts (``TypedText``).
    package let name: String
    /// Whether the person chose the name: a chosen name that is taken is refused, any other one gets a number.
    package let isNameChosen: Bool
    /// A key that is there already; nil: the agent makes one.
    package let keyURI: KeyURI?
    /// Of authnType `pin`: what every approval is to take; for a key that is there already, its own PIN.
    package let pin: PIN?
    /// Whether the issuer may push, if this agent can be pushed to.
    package let takesPush: Bool
    /// The persona of an enrollment of authnType `test`, as `Personas` wrote it; nil if it has none.
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
