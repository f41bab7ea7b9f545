import IssuerProtocol
import NIOCore
import RawHTTP
import StrictJSON
import Testing

@testable import Keys

/// Each kind of body that comes to the push port, as RFC 8030, 8188 and 8291 have it.
@Suite(.timeLimit(.minutes(20)))
struct PushBodyTests {
    /// A body, and the header fields that say of it what it is.
    private struct Push {
        var body: [UInt8]
        var fields = ["Content-Encoding: aes128gcm", "TTL: 60"]
        var framing: [String]?

        var bytes: [UInt8] {
            let lines =
                ["POST /push/\(PushPort.token) HTTP/1.1", "Host: x", "Connection: close"] + fields
                + (framing ?? ["Content-Length: \(body.count)"])
            return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
        }
    }

    private let recipient: PushRecipient
    private let good: [UInt8]

    init() throws {
        recipient = try PushPort.receiver().recipient
        good = try recipient.encrypt(Array("hint".utf8))
    }

    /// A record that ends in these bytes, after the message.
    private func encrypted(end: [UInt8]) throws -> [UInt8] {
        let (sender, salt) = (try AgreementKey.generate(), [UInt8](repeating: 7, count: EncryptedPush.saltCount))
        let key = try PushMessageKey(
            shared: sender.sharedSecret(with: PKey(p256Point: recipient.p256dh)), recipient: recipient,
            senderPoint: sender.point, salt: salt)
        let record = try key.encrypt(Secret(Array("hint".utf8) + end))
        return EncryptedPush(salt: salt, senderPoint: sender.point, record: record).bytes
    }

    /// The body with another record size.
    private func sized(_ size: Int) -> [UInt8] {
        good.prefix(16) + [0, 0, UInt8(size >> 8), UInt8(size & 0xFF)] + good.dropFirst(20)
    }

    /// Posts a push.
    ///
    /// - Returns: the status and, of a refusal, its code and detail.
    private func answer(
        to push: Push, thenFinishes: Bool = false
    ) async throws -> (status: Int, code: String, detail: String) {
        var answer = ""
        try await PushPort.run { port in
            answer = try await port.http.answer(to: push.bytes, thenFinishes: thenFinishes)
        }
        let status = try #require(Int(answer.split(separator: " ").dropFirst().first ?? ""), "\(answer)")
        let parts = answer.utf8.split(separator: "\r\n\r\n".utf8)
        guard parts.count == 2 else { return (status, "", "") }
        let problem = try JSONReader.object(Array(parts[1]), limits: JSONLimits(maxBytes: 1_000))
        return (status, try problem.string("code"), try problem.string("detail"))
    }

    @Test func `one record with delimiter 02 is taken, padded, chunked, and with a record size that just holds it`()
        async throws
    {
        let record = good.count - EncryptedPush.headerCount
        let chunk = Array("\(String(good.count, radix: 16))\r\n".utf8) + good + Array("\r\n0\r\n\r\n".utf8)
        let pushes = [
            Push(body: good), Push(body: try recipient.encrypt(Array("hint".utf8), padding: 100)),
            Push(body: try recipient.encrypt([])), Push(body: sized(record)), Push(body: sized(record + 1)),
            Push(body: chunk, framing: ["Transfer-Encoding: chunked"]),
            Push(body: good, fields: ["content-encoding: AES128GCM", "ttl: 0"]),
            Push(body: good, fields: ["Content-Encoding: aes128gcm", "TTL: 99999999999999999999"]),
        ]
        for (number, push) in pushes.enumerated() {
            let answer = try await answer(to: push)
            #expect(answer.status == 201, "\(number): \(answer)")
        }
    }

    @Test func `a push without a message has no coding, and is a hint`() async throws {
        let bare = try await answer(to: Push(body: [], fields: ["TTL: 60"]))
        #expect(bare.status == 201)
        let coded = try await answer(to: Push(body: []))
        #expect(coded.status == 400 && coded.detail.contains("the body ends before the 103 bytes"), "\(coded)")
    }

    @Test(arguments: [nil, "gzip", "aesgcm", "identity", "aes128gcm, gzip", "br"])
    func `another content coding, or none, is refused`(coding: String?) async throws {
        let fields = (coding.map { ["Content-Encoding: \($0)"] } ?? []) + ["TTL: 60"]
        let answer = try await answer(to: Push(body: good, fields: fields))
        #expect(answer.status == 400 && answer.code == "invalid_push")
        #expect(answer.detail == "Content-Encoding must be sent once, as aes128gcm")
    }

    @Test(arguments: [nil, "", "-1", "1.5", "60s", "0x3c"])
    func `a TTL that is no number of seconds, or none, is refused`(ttl: String?) async throws {
        let fields = ["Content-Encoding: aes128gcm"] + (ttl.map { ["TTL: \($0)"] } ?? [])
        let answer = try await answer(to: Push(body: good, fields: fields))
        #expect(answer.status == 400 && answer.code == "invalid_push")
        #expect(answer.detail == "TTL must be sent once, as a number of seconds in decimal digits")
    }

    @Test func `what RFC 8188 and 8291 rule out is refused, each with its sentence`() async throws {
        var keyID = good
        keyID[20] = 0
        var changed = good
        changed[good.count - 1] ^= 1
        let record = good.count - EncryptedPush.headerCount
        let cases: [([UInt8], String)] = [
            (sized(17), "the record size must be at least 18"),
            (sized(record - 1), "the body must be one record, no longer than the record size"),
            (keyID, "the key id must be the sender's key, an uncompressed point of 65 bytes"),
            (changed, "it was not encrypted for this subscription, or it was changed since"),
            (try encrypted(end: [1]), "the record must end in 02 and zeros: it is the last one"),
            (try encrypted(end: [0, 0]), "the record must end in 02 and zeros: it is the last one"),
            (try encrypted(end: [2, 0, 3]), "the record must end in 02 and zeros: it is the last one"),
            (Array(good.prefix(102)), "the body ends before the 103 bytes of a header and the smallest record"),
        ]
        for (body, detail) in cases {
            let answer = try await answer(to: Push(body: body))
            #expect(answer.status == 400 && answer.code == "invalid_push" && answer.detail == detail, "\(answer)")
        }
        let end = try await answer(to: Push(body: try encrypted(end: [2])))
        #expect(end.status == 201)
    }

    @Test func `4,097 bytes are too large, by their length, and in chunks`() async throws {
        let long = [UInt8](repeating: 0, count: 4_097)
        let chunk = Array("1001\r\n".utf8) + long + Array("\r\n0\r\n\r\n".utf8)
        for push in [
            Push(body: long), Push(body: [], framing: ["Content-Length: 4097"]),
            Push(body: chunk, framing: ["Transfer-Encoding: chunked"]),
        ] {
            let answer = try await answer(to: push)
            #expect(answer.status == 413 && answer.code == "too_large", "\(answer)")
        }
    }

    @Test func `a length that lies is refused, and never taken for this machine's fault`() async throws {
        let short = try await answer(to: Push(body: good, framing: ["Content-Length: \(good.count - 1)"]))
        #expect(short.status == 400 && short.detail.contains("not encrypted for this subscription"), "\(short)")
        let framings = ["Content-Length: \(good.count + 1)", "Transfer-Encoding: chunked"]
        for framing in framings {
            let body = framing.hasPrefix("T") ? Array("\(String(good.count, radix: 16))\r\n".utf8) + good : good
            let cut = try await answer(to: Push(body: body, framing: [framing]), thenFinishes: true)
            #expect(cut.status == 400 && cut.detail == "the body ends before the header fields say", "\(cut)")
        }
        for framing in [["Content-Length: x"], ["Content-Length: -1"], ["Content-Length: 9", "Content-Length: 10"]] {
            let answer = try await answer(to: Push(body: good, framing: framing))
            #expect(answer.status == 400, "\(framing): \(answer)")
        }
    }

    @Test func `a sender that waits to be told to go on is, or is refused before it sends`() async throws {
        try await PushPort.run { port in
            for path in ["/push/\(PushPort.token)", "/push/nobody"] {
                try await port.http.connected { inbound, outbound in
                    let head =
                        "POST \(path) HTTP/1.1\r\nHost: x\r\nTTL: 60\r\nContent-Encoding: aes128gcm\r\n"
                        + "Expect: 100-continue\r\nContent-Length: \(good.count)\r\n\r\n"
                    try await outbound.write(ByteBuffer(string: head))
                    var received = ReceivedText(inbound)
                    let first = try await received.next(to: "\r\n\r\n")
                    guard path.hasSuffix(PushPort.token) else {
                        #expect(first.hasPrefix("HTTP/1.1 404 "))
                        return
                    }
                    #expect(first == "HTTP/1.1 100 Continue\r\n\r\n")
                    try await outbound.write(ByteBuffer(bytes: good))
                    #expect(try await received.next(to: "\r\n\r\n").hasPrefix("HTTP/1.1 201 "))
                }
            }
        }
    }
}
