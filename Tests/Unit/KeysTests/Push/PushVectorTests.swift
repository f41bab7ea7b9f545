import Testing

@testable import Keys

@Suite struct PushVectorTests {
    @Test func `both parties find RFC 8291's shared secret, each with its own key and the other's point`() throws {
        let receiver = try AgreementKey(scalar: Secret(RFC8291.receiver))
        let sender = try AgreementKey(scalar: Secret(RFC8291.sender))
        #expect(receiver.point == RFC8291.receiverPoint && sender.point == RFC8291.senderPoint)
        #expect(try receiver.sharedSecret(with: PKey(p256Point: sender.point)).revealed == RFC8291.shared)
        #expect(try sender.sharedSecret(with: PKey(p256Point: receiver.point)).revealed == RFC8291.shared)
    }

    @Test func `input key, content key and nonce are RFC 8291's`() throws {
        let recipient = try RFC8291.receiverKey().recipient
        let shared = Secret(RFC8291.shared)
        let input = try PushMessageKey.inputKey(
            shared: shared, recipient: recipient, senderPoint: RFC8291.senderPoint)
        #expect(input.revealed == RFC8291.inputKey)
        let key = try PushMessageKey(
            shared: shared, recipient: recipient, senderPoint: RFC8291.senderPoint, salt: RFC8291.salt)
        #expect(key.key.revealed == RFC8291.contentKey && key.nonce == RFC8291.nonce)
    }

    @Test func `RFC 8291's message is encrypted byte for byte`() throws {
        let recipient = try PushRecipient(p256dh: RFC8291.receiverPoint, auth: Secret(RFC8291.auth))
        let sender = try AgreementKey(scalar: Secret(RFC8291.sender))
        let body = try recipient.encrypt(RFC8291.plain, padding: 0, from: sender, salt: RFC8291.salt)
        #expect(body == RFC8291.header + RFC8291.record)
    }

    @Test func `RFC 8291's message is decrypted`() throws {
        let key = try RFC8291.receiverKey()
        #expect(key.recipient.p256dh == RFC8291.receiverPoint && key.recipient.auth.revealed == RFC8291.auth)
        #expect(try key.decrypt(RFC8291.header + RFC8291.record) == RFC8291.plain)
    }

    // §3.1: no key id, and so no push message; the coding is the same.
    @Test func `RFC 8188's record is decrypted`() throws {
        let body = base64url("I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg")
        let input = Secret(base64url("yqdlZ-tYemfogSmv7Ws5PQ"))
        let plain = try PushMessageKey(input: input, salt: Array(body[..<16])).decrypt(Array(body[21...]))
        #expect(try PushRecipient.unpadded(try #require(plain)) == Array("I am the walrus".utf8))
        #expect(throws: PushRefusal.tooShort) { try RFC8291.receiverKey().decrypt(body) }
    }

    // §3.2: records of 25 bytes, of which the first ends in 01 and one byte of padding.
    @Test func `RFC 8188's first record of two is refused for its delimiter`() throws {
        let body = base64url(
            """
            uNCkWiNYzKTnBN9ji3-qWAAAABkCYTHOG8chz_gnvgOqdGYovxyjuqRyJFjEDyoF1Fvkj6hQPdPHI51OEUKEpgz3SsLWIqS_uA
            """)
        let input = Secret(base64url("BO3ZVPxUlnLORbVGMpbT1Q"))
        let plain = try PushMessageKey(input: input, salt: Array(body[..<16])).decrypt(Array(body[23..<48]))
        #expect(plain?.revealed == Array("I am th".utf8) + [0x01, 0x00])
        #expect(throws: PushRefusal.delimiter) { try PushRecipient.unpadded(try #require(plain)) }
    }
}
