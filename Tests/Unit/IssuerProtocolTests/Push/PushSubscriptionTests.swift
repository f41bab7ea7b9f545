import Keys
import StrictJSON
import Testing
import TextAndTime

@testable import IssuerProtocol

struct PushSubscriptionTests {
    private let subscription: PushSubscription

    init() throws {
        let sample = try PushSample()
        subscription = PushSubscription(endpoint: sample.endpoint, recipient: sample.key.recipient)
    }

    /// The subscription's JSON with another value at a place, or nothing there.
    private func read(_ pointer: String, _ value: JSONValue?) throws -> PushSubscription {
        let names = pointer.dropFirst().split(separator: "/").map(String.init)
        var json = subscription.json
        if names.count == 1 {
            json[names[0]] = value
        } else {
            var inner = try json.object(names[0])
            inner[names[1]] = value
            json[names[0]] = .object(inner)
        }
        return try PushSubscription(bytes: json.serialized())
    }

    private func error(_ pointer: String, _ value: JSONValue?) throws -> ProtocolError {
        try #require(throws: ProtocolError.self, "\(pointer)") { try read(pointer, value) }
    }

    @Test func `a subscription is read back, and has the members of the Push API`() throws {
        let json = subscription.json
        #expect(try PushSubscription(bytes: json.serialized()) == subscription)
        #expect(json.members.map(\.name) == ["endpoint", "expirationTime", "keys"] && json["expirationTime"] == .null)
        let keys = try json.object("keys")
        #expect(keys.members.map(\.name) == ["p256dh", "auth"])
        #expect(try keys.string("p256dh").utf8.count == 87 && keys.string("auth").utf8.count == 22)
    }

    @Test func `what encrypts for the subscription that was read reaches the receiver`() throws {
        let key = try PushReceiverKey.generate()
        let sent = PushSubscription(endpoint: subscription.endpoint, recipient: key.recipient)
        let read = try PushSubscription(bytes: sent.json.serialized())
        #expect(try key.decrypt(read.recipient.encrypt([1, 2])) == [1, 2])
    }

    @Test func `an unknown member and the time of expiry are passed over`() throws {
        #expect(try read("/other", 1) == subscription)
        #expect(try read("/keys/other", 1) == subscription)
        #expect(try read("/expirationTime", nil) == subscription)
        #expect(try read("/expirationTime", 1_700_000_000_000) == subscription)
    }

    @Test(arguments: ["/endpoint", "/keys", "/keys/p256dh", "/keys/auth"])
    func `a member that is missing or of another type is an error that names it`(pointer: String) throws {
        for value in [nil, .null, 1, [:], []] as [JSONValue?] where !(pointer == "/keys" && value == [:]) {
            #expect(try error(pointer, value).where == "push subscription" + pointer)
        }
        #expect(try error("/expirationTime", "soon").where == "push subscription/expirationTime")
    }

    @Test func `keys of another length, with padding or off the curve are errors`() throws {
        let point = subscription.recipient.p256dh
        for bytes in [
            Array(point.dropLast()), point + [0], [0x02] + point[1...], [0x04] + Array(point[1...].reversed()),
        ] {
            let problem = try error("/keys/p256dh", .string(Base64URL.encode(bytes)))
            #expect(problem.where == "push subscription/keys/p256dh")
        }
        for count in [0, 15, 17] {
            let auth = Base64URL.encode([UInt8](repeating: 1, count: count))
            #expect(try error("/keys/auth", .string(auth)).where == "push subscription/keys/auth")
        }
        #expect(throws: ProtocolError.self) { try read("/keys/auth", "BTBZMqHH6r4Tts7J_aSIgg==") }
    }

    @Test func `no error shows a key`() throws {
        let auth = try subscription.json.object("keys").string("auth")
        let error = try error("/keys/auth", .string(auth + "A"))
        #expect(!"\(error)".contains(auth) && !"\(subscription)".contains(auth))
    }

    @Test(arguments: [
        ("https://agent.example/p", "https://agent.example"),
        ("https://agent.example:8443/", "https://agent.example:8443"),
        ("http://localhost:8080/push/a?b=c/d", "http://localhost:8080"), ("http://[::1]:1/x", "http://[::1]:1"),
        ("http://127.0.0.1/x", "http://127.0.0.1"), ("https://ntfy.example/upAbC?up=1", "https://ntfy.example"),
    ])
    func `an endpoint is an address with a path, and its origin is what is printed`(text: String, origin: String) throws
    {
        let endpoint = try PushEndpoint(text)
        #expect(endpoint.text == text && endpoint.origin == origin && "\(endpoint)" == origin)
    }

    @Test(arguments: [
        "", "https://agent.example", "https://agent.example?x", "http://agent.example/p", "ftp://agent.example/p",
        "https:///p", "//agent.example/p", "https://a@agent.example/p", "https://AGENT.example/p",
        "https://agent.example:443/p", "https://agent.example/p#f", "https://agent.example/a b",
        "https://agent.example/é", #"https://agent.example/\"#, "https://agent.example/\n", #"https://agent.example/""#,
    ])
    func `what is no such address is refused`(text: String) {
        let error = #expect(throws: ProtocolError.self) { try PushEndpoint(text) }
        #expect(error?.where == "push endpoint")
    }

    @Test func `an endpoint has at most 2048 bytes`() throws {
        let limit = "https://agent.example/" + String(repeating: "a", count: 2_026)
        #expect(try PushEndpoint(limit).text.utf8.count == 2_048)
        #expect(throws: ProtocolError.self) { try PushEndpoint(limit + "a") }
        #expect(try read("/endpoint", .string(limit)).endpoint.text == limit)
        #expect(throws: ProtocolError.self) { try read("/endpoint", .string(limit + "a")) }
    }
}
