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
        try database.cachedStatement(
            sql: """
                INSERT INTO push_subscription
                    (enrollment_id, token_digest, endpoint, sealed_key, vapid_key, is_registered)
                VALUES (?, ?, ?, ?, ?, ?)
                """
        ).execute(arguments: [
            subscription.enrollmentId.text, subscription.tokenDigest.blob, subscription.endpoint.text,
            subscription.sealedKey.blob, subscription.vapidKey.blob, subscription.isRegistered,
        ])
    }

    func update(_ subscription: KeptSubscription) throws {
        try database.cachedStatement(
            sql: "UPDATE push_subscription SET sealed_key = ?, is_registered = ? WHERE token_digest = ?"
        ).execute(arguments: [
            subscription.sealedKey.blob, subscription.isRegistered, subscription.tokenDigest.blob,
        ])
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
