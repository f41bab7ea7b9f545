import Keys
import Testing
import TextAndTime

@testable import IssuerProtocol

struct VAPIDTests {
    private let sample: PushSample

    init() throws { sample = try PushSample() }

    private func check(_ field: String?, now: Int64 = PushSample.now) throws(VAPIDRefusal) {
        try sample.vapidKey.verify(field, for: sample.endpoint, now: now)
    }

    private func check(header: String) throws {
        try check("vapid t=\(sample.token(header: header)), k=\(sample.k)")
    }

    private func check(claims: String) throws {
        try check("vapid t=\(sample.token(claims: claims)), k=\(sample.k)")
    }

    // RFC 8292 §2.4.
    @Test func `the standard's example holds for its endpoint and its time`() throws {
        let token = """
            eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJhdWQiOiJodHRwczovL3B1c2guZXhhbXBsZS5uZXQiLCJleHAiOjE0NTM1MjM3NjgsInN1\
            YiI6Im1haWx0bzpwdXNoQGV4YW1wbGUuY29tIn0.i3CYb7t4xfxCDquptFOepC9GAu_HLGkMlMuCGSK2rpiUfnK9ojFwDXb1JrErtmysazNjjv\
            W2L9OkSSHzvoD1oA
            """
        let k = "BA1Hxzyi1RUM1b5wjxsn7nGxAszw2u61m164i3MrAIxHF6YK5h4SDYic-dRuU_RCPCfA5aq9ojSwk5Y2EmClBPs"
        let key = try VAPIDKey(point: try #require(Base64URL.decode(k)))
        let endpoint = try PushEndpoint("https://push.example.net/p/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV")
        let field = "vapid\n t=\(token),\n k=\(k)".replacing("\n", with: "")
        #expect(throws: Never.self) { try key.verify(field, for: endpoint, now: 1_453_523_000) }
        #expect(throws: VAPIDRefusal.vapidAudience) { try key.verify(field, for: sample.endpoint, now: 1_453_523_000) }
        #expect(throws: VAPIDRefusal.vapidKey) { try check(field) }
    }

    @Test func `what the issuer's half writes holds`() throws {
        #expect(throws: Never.self) { try check(sample.authorization()) }
        #expect(try sample.authorization().hasPrefix("vapid t="))
    }

    @Test(arguments: [
        "vapid t=T, k=K", "vapid k=K, t=T", "vapid t=T,k=K", "VAPID T=T, K=K", #"vapid t="T", k="K""#,
        "vapid   t = T ,, k=K,", #"vapid realm="a, b \" c", t=T, other=1, k=K"#, "vapid\u{20}, t=T\t,\tk=K",
    ])
    func `the parameters have any of the forms that HTTP gives them`(form: String) throws {
        let (token, k) = (try sample.token(), sample.k)
        let field = form.replacing("=T", with: "=\(token)").replacing("= T", with: "= \(token)")
            .replacing("=\"T", with: "=\"\(token)").replacing("=K", with: "=\(k)").replacing("=\"K", with: "=\"\(k)")
        #expect(throws: Never.self, "\(field)") { try check(field) }
    }

    @Test(arguments: [nil, "Bearer abc", "Basic dTpw", "WebPush a.b.c", "vapidx t=T, k=K"])
    func `without VAPID it is missing`(field: String?) {
        #expect(throws: VAPIDRefusal.vapidMissing) { try check(field) }
    }

    @Test(arguments: [
        "", " ", "vapid", "vapid ", "vapid t=T", "vapid k=K", "vapid t=T k=K", "vapid t=T; k=K", "vapid t=T, t=T, k=K",
        "vapid t=T, K=K, k=K", "vapid t, k=K", "vapid t=, k=K", #"vapid t="T, k=K"#, #"vapid t="T\"#, "vapid,t=T,k=K",
        #"vapid t="T"x, k=K"#, "vapid =T, k=K", "vapid t=(T), k=K", "vapid\tt=T, k=K",
    ])
    func `what is no list of parameters with t and k once each is malformed`(form: String) throws {
        let field = form.replacing("=T", with: "=\(try sample.token())").replacing("=K", with: "=\(sample.k)")
        #expect(throws: VAPIDRefusal.vapidMalformed, "\(field)") { try check(field) }
    }

    @Test func `4096 bytes of Authorization are looked at, and no more`() throws {
        let field = "vapid t=\(try sample.token()), k=\(sample.k)"
        let filled = field + String(repeating: ",", count: 4_096 - field.utf8.count)
        #expect(throws: Never.self) { try check(filled) }
        #expect(throws: VAPIDRefusal.vapidMalformed) { try check(filled + ",") }
    }

    @Test func `another key is refused, also if it signed the token itself`() throws {
        let other = try PushSample()
        let signed = try other.authorization()
        #expect(throws: VAPIDRefusal.vapidKey) { try check(signed) }
        let token = try other.token()
        #expect(throws: VAPIDRefusal.vapidSignature) { try check("vapid t=\(token), k=\(sample.k)") }
        for k in ["AA", sample.k + "=", sample.k + "AA", "!", other.k] {
            #expect(throws: VAPIDRefusal.vapidKey, "\(k)") { try check("vapid t=\"\(sample.token())\", k=\"\(k)\"") }
        }
    }

    @Test(arguments: ["a.b", "a.b.c.d", "..", "e30.e30.", "!.e30.AA", "e30=.e30.AA", "e30.e30.A", "W10.e30.AA"])
    func `what is no JWT is refused`(token: String) {
        #expect(throws: VAPIDRefusal.vapidToken) { try check("vapid t=\"\(token)\", k=\(sample.k)") }
    }

    @Test(
        arguments: [
            (#"{"alg":"ES256"}"#, nil), (#"{"alg":"ES256","typ":"jwt","kid":"a"}"#, nil),
            (#"{"alg":"none"}"#, .vapidAlgorithm), (#"{"alg":"HS256"}"#, .vapidAlgorithm), ("{}", .vapidAlgorithm),
            (#"{"alg":"es256"}"#, .vapidAlgorithm), (#"{"alg":"ES256","typ":"JWS"}"#, .vapidType),
            (#"{"alg":"ES256","typ":null}"#, .vapidType), (#"{"alg":"ES256","crit":[]}"#, .vapidCritical),
            (#"{"alg":"ES256","alg":"ES256"}"#, .vapidToken), (#"["ES256"]"#, .vapidToken),
        ] as [(String, VAPIDRefusal?)])
    func `the token's header`(header: String, refusal: VAPIDRefusal?) throws {
        if let refusal {
            #expect(throws: refusal) { try check(header: header) }
        } else {
            #expect(throws: Never.self) { try check(header: header) }
        }
    }

    @Test func `a signature that is altered, cut or of other claims does not hold`() throws {
        let parts = try sample.token().split(separator: ".").map(String.init)
        let signature = try #require(Base64URL.decode(parts[2]))
        let others = [signature.dropLast(), signature + [0], [UInt8](repeating: 0, count: 64), signature.reversed()]
        for other in others.map({ Base64URL.encode(Array($0)) }) {
            let field = "vapid t=\(parts[0]).\(parts[1]).\(other), k=\(sample.k)"
            #expect(throws: VAPIDRefusal.vapidSignature) { try check(field) }
        }
        let claims = Base64URL.encode(Array(#"{"aud":"\#(PushSample.origin)","exp":1697530000}"#.utf8))
        #expect(throws: VAPIDRefusal.vapidSignature) {
            try check("vapid t=\(parts[0]).\(claims).\(parts[2]), k=\(sample.k)")
        }
    }

    @Test(arguments: [
        #""https://agent.example""#, #""https://agent.example:8443/""#, #""https://agent.example:8443/push/c2VjcmV0""#,
        #""http://agent.example:8443""#, #""https://AGENT.example:8443""#, #""""#, "null", "1", "[]",
        #"["https://agent.example:8443","https://other.example"]"#, #"["https://other.example"]"#,
    ])
    func `an audience other than the endpoint's origin is refused`(aud: String) {
        let exp = PushSample.now + 60
        #expect(throws: VAPIDRefusal.vapidAudience) { try check(claims: #"{"aud":\#(aud),"exp":\#(exp)}"#) }
        #expect(throws: VAPIDRefusal.vapidAudience) { try check(claims: #"{"exp":\#(exp)}"#) }
    }

    // RFC 7519 §4.1.3: one audience may stand in an array.
    @Test func `the endpoint's origin may be the one audience of an array`() {
        let claims = #"{"aud":["\#(PushSample.origin)"],"exp":\#(PushSample.now + 60),"sub":17}"#
        #expect(throws: Never.self) { try check(claims: claims) }
    }

    @Test(
        arguments: [
            (-60, .vapidExpired), (-59, nil), (0, nil), (86_400, nil), (86_460, nil), (86_461, .vapidTooLong),
            (Int64.max - PushSample.now, .vapidTooLong), (Int64.min, .vapidExpired),
        ] as [(Int64, VAPIDRefusal?)])
    func `exp is not past and at most 24 hours ahead, with a minute for clocks that differ`(
        seconds: Int64, refusal: VAPIDRefusal?
    ) throws {
        let field = try sample.authorization(exp: seconds == .min ? .min : PushSample.now + seconds)
        if let refusal {
            #expect(throws: refusal) { try check(field) }
        } else {
            #expect(throws: Never.self) { try check(field) }
        }
    }

    @Test(arguments: ["1697525800.5", #""1697525800""#, "null", "true", "1e10", "99999999999999999999"])
    func `an exp that is no integer is refused`(exp: String) {
        #expect(throws: VAPIDRefusal.vapidExpired) {
            try check(claims: #"{"aud":"\#(PushSample.origin)","exp":\#(exp)}"#)
        }
        #expect(throws: VAPIDRefusal.vapidExpired) { try check(claims: #"{"aud":"\#(PushSample.origin)"}"#) }
    }

    @Test(arguments: [("0", true), ("1697522260", true), ("1697522261", false), (#""0""#, false), ("null", false)])
    func `nbf, if there is one, is not ahead by more than a minute`(nbf: String, isTaken: Bool) throws {
        let claims = #"{"aud":"\#(PushSample.origin)","exp":\#(PushSample.now + 60),"nbf":\#(nbf)}"#
        if isTaken {
            #expect(throws: Never.self) { try check(claims: claims) }
        } else {
            #expect(throws: VAPIDRefusal.vapidNotYet) { try check(claims: claims) }
        }
    }

    @Test(arguments: [[], [0x04], [0x04] + [UInt8](repeating: 1, count: 64), [UInt8](repeating: 2, count: 33)])
    func `a key that is no uncompressed point of P-256 is none`(point: [UInt8]) {
        #expect(throws: KeyError.self) { try VAPIDKey(point: point) }
    }
}
