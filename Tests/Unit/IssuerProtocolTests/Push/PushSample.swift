import Keys
import TextAndTime

@testable import IssuerProtocol

/// A subscription, the issuer's VAPID key, and pushes of that issuer that are in order but for what a test changes.
struct PushSample {
    static let now: Int64 = 1_697_522_200
    static let origin = "https://agent.example:8443"

    let endpoint: PushEndpoint
    let key: PushReceiverKey
    let signer: SigningKey
    let vapidKey: VAPIDKey

    init() throws {
        endpoint = try PushEndpoint(Self.origin + "/push/c2VjcmV0")
        key = try PushReceiverKey.generate()
        signer = try SigningKey.generate(.es256)
        vapidKey = try VAPIDKey(point: signer.publicKey.material.p256Point ?? [])
    }

    var inbox: PushInbox { PushInbox(endpoint: endpoint, key: key, vapid: .required(vapidKey)) }

    func authorization(exp: Int64 = now + 3_600) throws -> String {
        let input = VAPIDKey.signingInput(for: endpoint, exp: exp, subject: "mailto:push@issuer.example")
        return vapidKey.authorization(signingInput: input, signature: try signer.rawSignature(over: input))
    }

    /// The token of a header and claims as they are, signed by the issuer.
    func token(
        header: String = #"{"typ":"JWT","alg":"ES256"}"#,
        claims: String = #"{"aud":"\#(origin)","exp":\#(now + 3_600)}"#
    ) throws -> String {
        let parts = [header, claims].map { Base64URL.encode(Array($0.utf8)) }
        let input = Array(parts.joined(separator: ".").utf8)
        return JWSParts.compact(signingInput: input, signature: try signer.rawSignature(over: input))
    }

    var k: String { Base64URL.encode(vapidKey.point) }

    /// The fields of a push, with other values, or none, for some.
    func fields(_ changes: [String: [String]] = [:]) throws -> PushFields {
        var fields = [
            "Authorization": [try authorization()], "Content-Encoding": ["aes128gcm"], "TTL": ["60"],
            "Content-Type": ["application/octet-stream"],
        ]
        fields.merge(changes) { $1 }
        return PushFields(fields.flatMap { name, values in values.map { (name: name, value: $0) } })
    }

    func read(_ plain: [UInt8] = [], _ changes: [String: [String]] = [:]) throws -> PushMessage {
        try inbox.read(fields(changes), body: key.recipient.encrypt(plain), now: Self.now)
    }
}
