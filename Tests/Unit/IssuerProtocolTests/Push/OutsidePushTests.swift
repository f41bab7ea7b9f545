import Foundation
import Keys
import StrictJSON
import Testing
import TextAndTime

@testable import IssuerProtocol

/// Messages and credentials that Python's `pywebpush`, `http_ece` and `py-vapid` made, as `Tests/Fixtures/Vectors/push.json` says.
struct OutsidePushTests {
    private let file: JSONObject

    init() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Fixtures/Vectors/push.json")
        file = try JSONReader.object(Array(Data(contentsOf: path)), limits: JSONLimits(maxBytes: 100_000))
    }

    // The receiver of RFC 8291, Appendix A.
    private func key() throws -> PushReceiverKey {
        let scalar = try #require(Base64URL.decode("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"))
        let auth = try #require(Base64URL.decode("BTBZMqHH6r4Tts7J_aSIgg"))
        return try PushReceiverKey(secret: Secret(scalar + auth))
    }

    @Test func `messages of other programs are decrypted`() throws {
        let messages = try file.array("messages", count: 5...5)
        for case .object(let message) in messages {
            let plain = try message.base64url("plain", bytes: 1...3_993)
            let body = try message.base64url("body", bytes: 104...4_096)
            #expect(try key().decrypt(body) == plain)
        }
    }

    @Test func `VAPID of other programs holds until it expires`() throws {
        for case .object(let made) in try file.array("authorizations", count: 2...2) {
            let endpoint = try PushEndpoint(made.string("endpoint"))
            let key = try VAPIDKey(point: made.base64url("point", bytes: 65...65))
            let (value, exp) = (try made.string("value"), try made.integer("exp"))
            #expect(throws: Never.self) { try key.verify(value, for: endpoint, now: exp - 1) }
            #expect(throws: Never.self) { try key.verify(value, for: endpoint, now: exp - 86_400) }
            #expect(throws: VAPIDRefusal.vapidExpired) { try key.verify(value, for: endpoint, now: exp + 60) }
        }
    }
}
