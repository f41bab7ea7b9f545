import TextAndTime

/// The refusal of a transaction: the first rule of EMV 3-D Secure, or of this agent, that it breaks.
package struct TransactionRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    /// The broken rule.
    ///
    /// The raw values are stable, because scripts and logs depend on them.
    package enum Code: String, Sendable, CaseIterable {
        /// More than 16 members.
        case tooManyMembers
        /// A name that is not 1 to 64 of `A-Z a-z 0-9 _ . -`.
        case memberName
        /// A name that appears twice (EMV error 204).
        case duplicateMember
        /// A value that is not a string (EMV error 203).
        case nonStringValue
        /// The value of a member without a rule of its own has more than 1,024 Unicode scalars.
        case memberTooLong
        /// The values of all such members together have more than 4,096 Unicode scalars.
        case membersTooLong
        /// acsTransId or merchantName is absent.
        case memberMissing
        /// Some of the four purchase members are present, but not all.
        case purchaseIncomplete
        case acsTransId, merchantName, purchaseAmount, purchaseCurrency, purchaseExponent, purchaseDate
        case threeDSRequestorAppURL
        /// Three digits that ISO 4217 does not list.
        case currencyUnknown
        /// A code that ISO 4217 lists but purchases must not use: 955 to 964 and 999.
        case currencyNotAllowed
        /// The policy refuses an exponent that differs from ISO 4217's for the currency.
        case exponentMismatch
        /// The policy refuses an exponent for a currency to which ISO 4217 gives none.
        case exponentUndefined

        /// Whether only a policy of the agent refuses, although the transaction itself is valid.
        package var isPolicy: Bool {
            self == .exponentMismatch || self == .exponentUndefined
        }
    }

    package let code: Code
    /// The name of the member at fault.
    ///
    /// `nil` if the fault is not in one member.
    ///
    /// It is escaped and cut, like all external text.
    package let member: String?
    /// The message: the fault, its place, and the allowed form, in one line that is safe to print.
    package let message: String

    package var description: String { message }

    init(_ code: Code, member: String?, _ message: String) {
        self.code = code
        self.member = member
        self.message = message
    }

    init(_ code: Code, of member: KnownMember, _ message: String) {
        self.init(code, member: member.rawValue, "\(member.rawValue) \(message)")
    }

    /// Returns the refusal of a member whose value is not a string, such as a number or an object.
    package static func nonStringValue(member: String) -> TransactionRefusal {
        let name = DisplayText.excerpt(member)
        return TransactionRefusal(.nonStringValue, member: name, "\(name) is not a string; every member must be one")
    }

    /// Returns the refusal of a member whose name appears more than once.
    package static func duplicateMember(_ member: String) -> TransactionRefusal {
        let name = DisplayText.excerpt(member)
        return TransactionRefusal(.duplicateMember, member: name, "\(name) appears more than once; once is allowed")
    }
}
