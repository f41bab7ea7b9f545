import Testing

@testable import Keys

@Suite struct Ed25519Tests {
    /// The points whose order is 1, 2, 4 or 8: their y, also those that are the prime or more, with either sign.
    static let smallOrder = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    ].flatMap { text -> [[UInt8]] in
        let point = bytes(text)
        return [point, point.dropLast() + [point[31] | 0x80]]
    }

    @Test(arguments: smallOrder)
    func `a point of small order, under which anyone can sign, is refused`(point: [UInt8]) throws {
        #expect(throws: KeyError.smallOrder) { try PublicKey(.ed25519(point)) }
        let encoded = SubjectPublicKeyInfo.encode(.ed25519(point))
        #expect(throws: KeyError.smallOrder) { try PublicKey(subjectPublicKeyInfo: encoded) }
        // And rightly: OpenSSL takes a signature that needed no private key, for one message in eight at least.
        let key = try PKey(subjectPublicKeyInfo: encoded)
        let forged = try (UInt8(0)..<100).contains { message in
            try Self.smallOrder.contains { commitment in
                let signature = commitment + [UInt8](repeating: 0, count: 32)
                return try DigestContext(.eddsa).isValid(signature, by: key, over: [message])
            }
        }
        #expect(forged)
    }

    @Test func `bytes that are no point make a key under which nothing holds`() throws {
        // y = 2 is no point's: (y² − 1) / (d·y² + 1) is no square.
        let key = try PublicKey(.ed25519([2] + [UInt8](repeating: 0, count: 31)))
        let known = KnownSignature.ed25519
        #expect(try !key.isValid(signature: known.signature, over: known.message))
        #expect(try !key.isValid(signature: [UInt8](repeating: 0, count: 64), over: []))
        #expect(OpenSSLError.queueIsEmpty)
    }

    @Test func `a signature to whose second half the order was added does not hold`() throws {
        let known = KnownSignature.ed25519
        let order = bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
        var (sum, carry) = (Array(known.signature[32...]), 0)
        for index in sum.indices {
            let digit = Int(sum[index]) + Int(order[index]) + carry
            (sum[index], carry) = (UInt8(digit & 0xFF), digit >> 8)
        }
        let key = try PublicKey(known.material)
        #expect(try key.isValid(signature: known.signature, over: known.message))
        #expect(try !key.isValid(signature: known.signature[..<32] + sum, over: known.message))
    }
}
