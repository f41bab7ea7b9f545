import Authenticator
import GRDB
import IssuerProtocol

extension DatabaseTransaction {
    func subscription(tokenDigest: [UInt8]) throws -> KeptSubscription? {
        let statement = try database.cachedStatement(sql: "SELECT * FROM push_subscription WHERE token_digest = ?")
        return try Row.fetchOne(statement, arguments: [tokenDigest.blob]).map(subscription)
    }

    func subscriptions(of id: EnrollmentID) throws -> [KeptSubscription] {
        let statement = try database.cachedStatement(
            sql: "SELECT * FROM push_subscription WHERE enrollment_id = ? ORDER BY seq")
        return try Row.fetchAll(statement, arguments: [id.text]).map(subscription)
    }

    func insert(_ subscription: KeptSubscription) throws {
        let fixed: ColumnValues = [
            "enrollment_id": subscription.enrollmentId.text,
            "token_digest": subscription.tokenDigest.blob,
            "endpoint": subscription.endpoint.text,
            "vapid_key": subscription.vapidKey.blob,
        ]
        try database.insert(into: "push_subscription", fixed + Self.changingColumns(subscription))
    }

    func update(_ subscription: KeptSubscription) throws {
        try database.update(
            "push_subscription", set: Self.changingColumns(subscription),
            where: ["token_digest": subscription.tokenDigest.blob])
    }

    /// What may change of a subscription.
    private static func changingColumns(_ subscription: KeptSubscription) -> ColumnValues {
        ["sealed_key": subscription.sealedKey.blob, "is_registered": subscription.isRegistered]
    }

    func removeSubscription(_ tokenDigest: [UInt8]) throws {
        try database.cachedStatement(sql: "DELETE FROM push_subscription WHERE token_digest = ?")
            .execute(arguments: [tokenDigest.blob])
    }

    private func subscription(_ row: Row) throws -> KeptSubscription {
        let fields = Fields(table: "push_subscription", row: row)
        return KeptSubscription(
            enrollmentId: try fields.value("enrollment_id", EnrollmentID.init),
            tokenDigest: try fields.bytes("token_digest"),
            endpoint: try fields.value("endpoint") { try PushEndpoint($0) },
            sealedKey: try fields.bytes("sealed_key"), vapidKey: try fields.bytes("vapid_key"),
            isRegistered: try fields.flag("is_registered"))
    }
}
