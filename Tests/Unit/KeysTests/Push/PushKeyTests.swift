import Testing

@testable import Keys

@Suite struct PushKeyTests {
    private static let order = "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551"
    private static let greatest = "FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632550"

    @Test func `a subscription's secret makes the same subscription again`() throws {
        let key = try PushReceiverKey.generate()
        let secret = try key.secret()
        let again = try PushReceiverKey(secret: secret)
        #expect(secret.count == 48 && again.recipient == key.recipient)
        #expect(try again.secret() == secret)
        #expect(try again.decrypt(key.recipient.encrypt([1, 2, 3])) == [1, 2, 3])
    }

    @Test func `subscriptions differ in key and auth secret`() throws {
        let (one, other) = (try PushReceiverKey.generate().recipient, try PushReceiverKey.generate().recipient)
        #expect(one.p256dh != other.p256dh && one.auth != other.auth && one != other)
        #expect(try one != PushRecipient(p256dh: one.p256dh, auth: other.auth))
        #expect(try one == PushRecipient(p256dh: one.p256dh, auth: one.auth))
    }

    @Test(arguments: [0, 16, 32, 47, 49])
    func `a secret of another length than 48 bytes is refused`(count: Int) {
        #expect(throws: KeyError.malformed(nil)) {
            try PushReceiverKey(secret: Secret([UInt8](repeating: 1, count: count)))
        }
    }

    @Test(arguments: [String(repeating: "00", count: 32), order, String(repeating: "FF", count: 32)])
    func `a private value out of range is refused`(scalar: String) throws {
        let secret = Secret(bytes(scalar) + RFC8291.auth)
        #expect(throws: KeyError.self) { try PushReceiverKey(secret: secret) }
        #expect(OpenSSLError.queueIsEmpty)
    }

    @Test(arguments: [String(repeating: "00", count: 31) + "01", greatest])
    func `the least and the greatest private value are kept with all their bytes`(scalar: String) throws {
        let secret = Secret(bytes(scalar) + RFC8291.auth)
        #expect(try PushReceiverKey(secret: secret).secret() == secret)
    }

    @Test func `a recipient has an uncompressed point of P-256 and 16 bytes of auth secret`() throws {
        let (point, auth) = (RFC8291.receiverPoint, Secret(RFC8291.auth))
        #expect(throws: Never.self) { try PushRecipient(p256dh: point, auth: auth) }
        var offCurve = point
        offCurve[1] ^= 1
        #expect(throws: KeyError.notOnCurve) { try PushRecipient(p256dh: offCurve, auth: auth) }
        for malformed in [[], Array(point.dropLast()), point + [0], [0x02] + point[1..<33], [0x06] + point[1...]] {
            #expect(throws: KeyError.malformed(nil)) { try PushRecipient(p256dh: malformed, auth: auth) }
        }
        for count in [0, 15, 17] {
            let auth = Secret([UInt8](repeating: 1, count: count))
            #expect(throws: KeyError.malformed(nil)) { try PushRecipient(p256dh: point, auth: auth) }
        }
    }

    @Test func `no way of printing shows what a subscription keeps secret`() throws {
        let key = try RFC8291.receiverKey()
        let secrets = [RFC8291.receiver, RFC8291.auth].flatMap { bytes in
            [hexadecimal(bytes), bytes.map(String.init).joined(separator: ", ")]
        }
        for value: Any in [key, key.recipient, [key]] {
            for shown in everyText(of: value) {
                #expect(!secrets.contains { shown.contains($0) }, "\(shown)")
            }
        }
    }

    @Test func `a point of P-256 has one uncompressed form, and no other algorithm has one`() throws {
        let material = try #require(PublicKeyMaterial(p256Point: RFC8291.senderPoint))
        #expect(material.algorithm == .es256 && material.p256Point == RFC8291.senderPoint)
        #expect(try SigningKey.generate(.es384).publicKey.material.p256Point == nil)
        #expect(try SigningKey.generate(.eddsa).publicKey.material.p256Point == nil)
    }

    @Test func `refusals have a stable word each and say what is allowed`() {
        let refusals: [PushRefusal] = [
            .tooLarge, .tooShort, .recordSize, .manyRecords, .keyID, .senderKey, .ciphertext, .delimiter,
            .openSSL(OpenSSLError(function: "f", reasons: [])),
        ]
        #expect(
            refusals.map(\.token) == [
                "tooLarge", "tooShort", "recordSize", "manyRecords", "keyID", "senderKey", "ciphertext", "delimiter",
                "cannotTell",
            ])
        #expect(PushRefusal.tooLarge.description.contains("4096 bytes, 3993 of them"))
        #expect(Set(refusals.map(\.description)).count == refusals.count)
    }
}
