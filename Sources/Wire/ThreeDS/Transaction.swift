/// The transaction that the payer is asked to approve.
///
/// It is the transaction confirmation data, checked against EMV 3-D Secure's rules.
///
/// A value of this type has passed every rule except the exponent's, which is a matter of policy (`warnings(under:)`).
package struct Transaction: Sendable, Equatable {
    package let acsTransId: ACSTransactionID
    /// 1 to 40 Unicode scalars of any kind.
    ///
    /// Show it only through `DisplayText`.
    package let merchantName: String
    /// The payment.
    ///
    /// `nil` for an authentication without a payment.
    package let purchase: Purchase?
    package let threeDSRequestorAppURL: ThreeDSRequestorAppURL?
    /// The members without a rule of their own, in the order received.
    package let otherMembers: [TransactionMember]
    /// All members, unchanged and in the order received: the input of the commitment.
    package let members: [TransactionMember]

    /// Checks the members against every rule, and throws the first that is broken.
    package init(members: [TransactionMember]) throws(TransactionRefusal) {
        try MemberBounds.expectBounded(members)
        let values = KnownValues(members)
        self.acsTransId = try values.acsTransId()
        self.merchantName = try values.merchantName()
        self.purchase = try values.purchase()
        self.threeDSRequestorAppURL = try values.threeDSRequestorAppURL()
        self.otherMembers = members.filter { KnownMember(name: $0.name) == nil }
        self.members = members
    }

    /// Compares the members byte for byte, in any order.
    package static func == (left: Transaction, right: Transaction) -> Bool {
        // Names are unique within a transaction, so equal counts and one inclusion are equality.
        left.members.count == right.members.count && left.members.allSatisfy(right.members.contains)
    }
}
