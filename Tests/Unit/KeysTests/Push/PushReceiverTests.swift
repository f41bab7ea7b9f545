import Testing

@testable import Keys

@Suite struct PushReceiverTests {
    private let key: PushReceiverKey
    private let sender: AgreementKey
    private let salt = [UInt8](repeating: 0x5A, count: 16)

    init() throws {
        key = try PushReceiverKey.generate()
        sender = try AgreementKey.generate()
    }

    /// A body whose record holds these bytes, whatever they are.
    private func body(padded: [UInt8]) throws -> [UInt8] {
        let shared = try sender.sharedSecret(with: PKey(p256Point: key.recipient.p256dh))
        let messageKey = try PushMessageKey(
            shared: shared, recipient: key.recipient, senderPoint: sender.point, salt: salt)
        let record = try messageKey.encrypt(Secret(padded))
        return EncryptedPush(salt: salt, senderPoint: sender.point, record: record).bytes
    }

    private func body(_ count: Int, recordSize: UInt32) throws -> [UInt8] {
        var body = try key.recipient.encrypt([UInt8](repeating: 7, count: count))
        for index in 0..<4 { body[16 + index] = UInt8(truncatingIfNeeded: recordSize >> UInt32(24 - 8 * index)) }
        return body
    }

    @Test(arguments: [0, 1, 16, 3_992, 3_993])
    func `what was encrypted for a subscription is decrypted by it`(count: Int) throws {
        let plain = [UInt8](repeating: 0xA5, count: count)
        let body = try key.recipient.encrypt(plain)
        #expect(body.count == 103 + count)
        #expect(try key.decrypt(body) == plain)
        #expect(OpenSSLError.queueIsEmpty)
    }

    @Test(arguments: [[], [0], [0, 0], [2], [2, 0, 0], [1, 2, 0, 2, 0]] as [[UInt8]], [0, 1, 100])
    func `bytes that look like padding stay in the message`(plain: [UInt8], padding: Int) throws {
        let body = try key.recipient.encrypt(plain, padding: padding)
        #expect(body.count == 103 + plain.count + padding)
        #expect(try key.decrypt(body) == plain)
    }

    @Test(arguments: [(3_993, 0, true), (3_994, 0, false), (0, 3_993, true), (0, 3_994, false), (1, 3_993, false)])
    func `message and padding are 3993 bytes at most`(count: Int, padding: Int, isAllowed: Bool) throws {
        let plain = [UInt8](repeating: 1, count: count)
        if isAllowed {
            let body = try key.recipient.encrypt(plain, padding: padding)
            #expect(try body.count == 4_096 && key.decrypt(body) == plain)
        } else {
            #expect(throws: PushRefusal.tooLarge) { try key.recipient.encrypt(plain, padding: padding) }
        }
    }

    @Test(arguments: [-1, Int.min, Int.max])
    func `a padding that is no count of bytes is refused`(padding: Int) {
        #expect(throws: PushRefusal.tooLarge) { try key.recipient.encrypt([1], padding: padding) }
    }

    @Test func `a body of 4097 bytes is refused, though it would be in order`() throws {
        let body = try body(padded: [UInt8](repeating: 1, count: 3_994) + [2])
        #expect(body.count == 4_097)
        #expect(throws: PushRefusal.tooLarge) { try key.decrypt(body) }
        #expect(throws: PushRefusal.tooLarge) { try key.decrypt(body + body) }
    }

    @Test func `a body that ends within the header or the smallest record is refused`() throws {
        let body = try key.recipient.encrypt([])
        #expect(body.count == 103)
        for count in body.indices {
            #expect(throws: PushRefusal.tooShort, "\(count)") { try key.decrypt(Array(body[..<count])) }
        }
    }

    @Test(arguments: [(0, 17), (0, 0), (1, 1)] as [(Int, UInt32)])
    func `a record size that RFC 8188 does not know is refused`(count: Int, recordSize: UInt32) throws {
        let body = try body(count, recordSize: recordSize)
        #expect(throws: PushRefusal.recordSize) { try key.decrypt(body) }
    }

    @Test(arguments: [(0, 18), (1, 18), (83, 100), (83, UInt32.max)] as [(Int, UInt32)])
    func `a record no longer than the record size is taken`(count: Int, recordSize: UInt32) throws {
        let body = try body(count, recordSize: recordSize)
        #expect(try key.decrypt(body) == [UInt8](repeating: 7, count: count))
    }

    @Test(arguments: [(2, 18), (83, 99), (3_993, 4_009)] as [(Int, UInt32)])
    func `what is longer than the record size is more than one record, and refused`(
        count: Int, recordSize: UInt32
    ) throws {
        let body = try body(count, recordSize: recordSize)
        #expect(throws: PushRefusal.manyRecords) { try key.decrypt(body) }
    }

    @Test(arguments: [0, 1, 64, 66, 255] as [UInt8])
    func `a key id of another length than a point's is refused`(count: UInt8) throws {
        var body = try key.recipient.encrypt([1])
        body[20] = count
        #expect(throws: PushRefusal.keyID) { try key.decrypt(body) }
    }

    @Test(arguments: [0x00, 0x02, 0x03, 0x05, 0x06, 0x07] as [UInt8])
    func `a point in another form than the uncompressed one is refused`(form: UInt8) throws {
        var body = try key.recipient.encrypt([1])
        body[21] = form
        #expect(throws: PushRefusal.keyID) { try key.decrypt(body) }
    }

    @Test func `a sender's key that is off the curve, at infinity or out of range is refused`() throws {
        var offCurve = sender.point
        offCurve[64] ^= 1
        let swapped = [0x04] + sender.point[33...] + sender.point[1..<33]
        for point in [offCurve, swapped, [0x04] + zeros(64), [0x04] + [UInt8](repeating: 0xFF, count: 64)] {
            let body = EncryptedPush(salt: salt, senderPoint: point, record: zeros(17)).bytes
            #expect(throws: PushRefusal.senderKey) { try key.decrypt(body) }
        }
        #expect(OpenSSLError.queueIsEmpty)
    }

    @Test(arguments: [[0], [0, 0, 0], [1], [7, 1], [7, 1, 0], [7, 3], [7, 0xFF, 0, 0]] as [[UInt8]])
    func `a record without 02 before its padding is refused`(padded: [UInt8]) throws {
        let body = try body(padded: padded)
        #expect(throws: PushRefusal.delimiter) { try key.decrypt(body) }
    }

    @Test func `a message for another subscription is refused, be it another key or another auth secret`() throws {
        let body = try key.recipient.encrypt([1])
        let scalar = try key.secret().prefix(32)
        let otherAuth = try PushReceiverKey(secret: .joined([scalar, .random(16)]))
        for other in [try PushReceiverKey.generate(), otherAuth] {
            #expect(throws: PushRefusal.ciphertext) { try other.decrypt(body) }
        }
        #expect(OpenSSLError.queueIsEmpty)
    }

    @Test func `a message with any byte changed, except in the record size, is refused`() throws {
        let body = try key.recipient.encrypt(Array("a message".utf8), padding: 3)
        for index in body.indices where !(16..<20).contains(index) {
            var changed = body
            changed[index] ^= 0x40
            #expect(throws: PushRefusal.self, "byte \(index)") { try key.decrypt(changed) }
        }
        #expect(throws: PushRefusal.ciphertext) { try key.decrypt(body + [0]) }
        #expect(OpenSSLError.queueIsEmpty)
    }

    @Test func `each message has a sender's key and a salt of its own`() throws {
        let (one, other) = (try key.recipient.encrypt([1]), try key.recipient.encrypt([1]))
        #expect(one[..<16] != other[..<16] && one[21..<86] != other[21..<86])
    }

    private func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
}
