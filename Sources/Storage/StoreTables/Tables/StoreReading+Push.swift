import IssuerProtocol
package import Records
import TableRows

/// The columns of a push subscription.
enum SubscriptionColumn: Int, TableColumn {
    static let table = TableLayout<Self>("push_subscription", naming: .snakeCase)

    case enrollmentId, tokenDigest, endpoint, sealedKey, vapidKey, isRegistered
}

extension StoreReading {
    /// The push subscription whose token has this digest.
    package func subscription(tokenDigest: [UInt8]) throws -> KeptSubscription? {
        let condition = "WHERE token_digest = ?"
        return try database.row(of: SubscriptionColumn.table, condition, [tokenDigest], as: subscription)
    }

    /// Returns the subscriptions of an enrollment, oldest first.
    package func subscriptions(of id: EnrollmentID) throws -> [KeptSubscription] {
        try lock(id)
        let condition = "WHERE enrollment_id = ? ORDER BY seq"
        return try database.rows(of: SubscriptionColumn.table, condition, [id.text], as: subscription)
    }

    /// The enrollments with a subscription, among the newest `limit` of all, that may not be registered at the issuer.
    ///
    /// Scans the primary key backwards.
    package func unregisteredSubscriptions(amongNewest limit: Int) throws -> [EnrollmentID] {
        try database.enrollmentIDs(
            in: SubscriptionColumn.table, .enrollmentId,
            """
            SELECT DISTINCT enrollment_id FROM (
                SELECT enrollment_id, is_registered FROM push_subscription ORDER BY seq DESC LIMIT ?
            ) AS newest WHERE is_registered = 0
            """, [limit])
    }

    fileprivate func subscription(_ fields: Fields<SubscriptionColumn>) throws -> KeptSubscription {
        KeptSubscription(
            enrollmentId: try fields.value(.enrollmentId, EnrollmentID.init),
            tokenDigest: try fields.bytes(.tokenDigest),
            endpoint: try fields.value(.endpoint) { try PushEndpoint($0) },
            sealedKey: try fields.bytes(.sealedKey), vapidKey: try fields.bytes(.vapidKey),
            isRegistered: try fields.flag(.isRegistered))
    }
}

extension StoreTransaction {
    package func insert(_ subscription: KeptSubscription) throws {
        try lock(subscription.enrollmentId)
        let fixed: ColumnValues<SubscriptionColumn> = [
            .enrollmentId: subscription.enrollmentId.text,
            .tokenDigest: subscription.tokenDigest,
            .endpoint: subscription.endpoint.text,
            .vapidKey: subscription.vapidKey,
        ]
        try database.insert(into: SubscriptionColumn.table, fixed + Self.changingColumns(subscription))
    }

    /// Writes `sealedKey` and `isRegistered`.
    ///
    /// The other columns of a subscription never change.
    package func update(_ subscription: KeptSubscription) throws {
        try lock(subscription.enrollmentId)
        try database.update(
            SubscriptionColumn.table, set: Self.changingColumns(subscription),
            where: [.tokenDigest: subscription.tokenDigest])
    }

    /// The columns that may change.
    private static func changingColumns(_ subscription: KeptSubscription) -> ColumnValues<SubscriptionColumn> {
        [.sealedKey: subscription.sealedKey, .isRegistered: subscription.isRegistered]
    }

    package func removeSubscription(_ tokenDigest: [UInt8]) throws {
        try database.execute("DELETE FROM push_subscription WHERE token_digest = ?", [tokenDigest])
    }
}
