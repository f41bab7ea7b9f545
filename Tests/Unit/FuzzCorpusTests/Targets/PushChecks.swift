import IssuerProtocol
import Keys
import StrictJSON

/// What anyone can post to a push endpoint, and the subscription that says where that is.
enum PushChecks {
    private static let now: Int64 = 1_697_522_200

    private struct Receiver {
        let key: PushReceiverKey
        let endpoint: PushEndpoint
        let vapid: VAPIDKey

        init() throws {
            key = try PushReceiverKey.generate()
            endpoint = try PushEndpoint("https://push.example.net/p")
            vapid = try VAPIDKey(point: SigningKey.generate(.es256).publicKey.material.p256Point ?? [])
        }
    }

    private static let receiver = Result { try Receiver() }

    /// The bytes are a body, and once more what is in one.
    static func message(_ input: [UInt8]) throws {
        let receiver = try receiver.get()
        switch opened(input, by: receiver.key) {
        case .success: throw Broken(description: "nobody encrypted this")
        case .failure(.openSSL): throw Broken(description: "a push can always be judged")
        case .failure(let refusal):
            try mustBeOneLine(refusal.description, "a refusal")
            try mustHold((refusal == .tooLarge) == (input.count > PushReceiverKey.maxBytes), "4,096 bytes are read")
        }
        guard input.count <= PushRecipient.maxPlain else {
            return try mustHold((try? receiver.key.recipient.encrypt(input)) == nil, "3,993 bytes are carried")
        }
        try carried(input, receiver)
    }

    /// The bytes are the value of an `Authorization` field.
    static func vapid(_ input: [UInt8]) throws {
        let receiver = try receiver.get()
        let inbox = PushInbox(endpoint: receiver.endpoint, key: receiver.key, vapid: .required(receiver.vapid))
        let fields = PushFields([("authorization", input.text)])
        do throws(PushAnswer) {
            _ = try inbox.read(fields, body: [], now: now)
        } catch {
            try mustHold([401, 403].contains(error.status), "what the issuer did not sign is 401 or 403")
            return try mustBeOneLine(error.body.text, "an answer")
        }
        throw Broken(description: "the issuer did not sign this")
    }

    static func subscription(_ input: [UInt8]) throws {
        if let endpoint = try? PushEndpoint(input.text) {
            try mustHold(endpoint.text.utf8.elementsEqual(input), "an endpoint is kept byte for byte")
            try mustHold(endpoint.text.utf8.starts(with: (endpoint.origin + "/").utf8), "it begins with its origin")
            try mustHold(try IssuerURL(endpoint.origin).text == endpoint.origin, "its origin is one")
        }
        guard let subscription = try? PushSubscription(bytes: input) else { return }
        let again = try PushSubscription(bytes: subscription.json.serialized())
        try mustHold(again == subscription, "what was written reads the same")
        let body = try subscription.recipient.encrypt([])
        try mustHold((try? receiver.get().key.decrypt(body)) == nil, "a message is for one subscription")
    }

    private static func opened(_ body: [UInt8], by key: PushReceiverKey) -> Result<[UInt8], PushRefusal> {
        Result { () throws(PushRefusal) in try key.decrypt(body) }
    }

    /// What was encrypted comes out the same, and not at all where a byte was changed.
    private static func carried(_ plain: [UInt8], _ receiver: Receiver) throws {
        var body = try receiver.key.recipient.encrypt(plain)
        try mustHold(try receiver.key.decrypt(body) == plain, "what was encrypted is decrypted to the same")
        let inbox = PushInbox(endpoint: receiver.endpoint, key: receiver.key, vapid: .upstream)
        let fields = PushFields([("TTL", "0"), ("Content-Encoding", "aes128gcm")])
        if case .message(let text) = try inbox.read(fields, body: body, now: now).body {
            try mustHold(text.utf8.elementsEqual(plain), "a message is handed on as it came")
        }
        let place = plain.reduce(86) { ($0 &* 31 &+ Int($1)) & 0xFFFF } % (body.count - 86) + 86
        body[place] ^= 1
        try mustHold((try? receiver.key.decrypt(body)) == nil, "what was changed is not decrypted")
    }
}
