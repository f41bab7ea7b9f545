import StrictJSON
import Testing
import TextAndTime

@testable import WebAuthn

@Suite struct OptionsTests {
    static let host = "login.issuer.example"
    static let creation: JSONObject = [
        "rp": ["id": "issuer.example", "name": "Issuer"],
        "user": ["id": "AQI", "name": "payer", "displayName": "A Payer"], "challenge": "AAECAwQFBgcICQoLDA0ODw",
        "pubKeyCredParams": [["type": "public-key", "alg": -7], ["type": "public-key", "alg": -257]],
        "excludeCredentials": [["type": "public-key", "id": "AQ", "transports": ["internal"]]],
        "authenticatorSelection": ["userVerification": "required", "residentKey": "preferred"],
        "attestation": "direct", "timeout": 60_000, "hints": [], "extensions": ["credProps": true],
    ]
    static let request: JSONObject = [
        "challenge": "AAECAwQFBgcICQoLDA0ODw", "timeout": 300_000, "rpId": "issuer.example",
        "allowCredentials": [["type": "public-key", "id": "AQ"], ["type": "public-key", "id": "AgM"]],
        "userVerification": "discouraged", "hints": ["client-device"], "extensions": ["payment": ["isPayment": true]],
    ]

    private func changing(_ json: JSONObject, _ name: String, to value: JSONValue?) -> JSONObject {
        var json = json
        json[name] = value
        return json
    }

    private func value(_ text: String?) throws -> JSONValue? {
        try text.map { try JSONReader.value(Array($0.utf8), limits: JSONLimits(maxBytes: 4_096)) }
    }

    @Test func `creation options are read`() throws {
        let options = try PublicKeyCredentialCreationOptions(json: Self.creation, host: Self.host)
        #expect(options.rpId == "issuer.example")
        #expect(options.rpName == "Issuer")
        #expect(options.userId == [1, 2])
        #expect(options.userName == "payer")
        #expect(options.userDisplayName == "A Payer")
        #expect(options.challenge == Array(0..<16))
        #expect(options.pubKeyCredParams == [-7, -257])
        #expect(options.excludeCredentials == [[1]])
        #expect(options.userVerification == .required)
        #expect(options.attestation == .direct)
        #expect(try PublicKeyCredentialCreationOptions(json: options.json, host: "other.example") == options)
    }

    @Test func `creation options have the standard's defaults`() throws {
        var json = Self.creation
        for name in ["excludeCredentials", "authenticatorSelection", "attestation", "timeout", "hints", "extensions"] {
            json[name] = nil
        }
        json["pubKeyCredParams"] = []
        let options = try PublicKeyCredentialCreationOptions(json: json, host: Self.host)
        #expect(options.excludeCredentials == [])
        #expect(options.userVerification == .preferred)
        #expect(options.attestation == .none)
        #expect(options.pubKeyCredParams == [-7, -257])
    }

    @Test(arguments: [["name": "Issuer"], ["id": .null, "name": "Issuer"]] as [JSONObject])
    func `without an id the relying party is the host of its origin`(rp: JSONObject) throws {
        let creation = changing(Self.creation, "rp", to: .object(rp))
        #expect(try PublicKeyCredentialCreationOptions(json: creation, host: Self.host).rpId == Self.host)
        let request = changing(Self.request, "rpId", to: rp["id"])
        #expect(try PublicKeyCredentialRequestOptions(json: request, host: Self.host).rpId == Self.host)
    }

    @Test(arguments: ["timeout", "hints", "attestationFormats", "extensions", "later"])
    func `members of creation options that change nothing are not read, whatever is in them`(name: String) throws {
        let selection: JSONObject = [
            "userVerification": "required", "authenticatorAttachment": "cross-platform", "residentKey": "required",
            "requireResidentKey": true, "later": 1,
        ]
        let json = changing(
            changing(Self.creation, name, to: ["x": [-1]]), "authenticatorSelection", to: .object(selection))
        #expect(
            try PublicKeyCredentialCreationOptions(json: json, host: Self.host)
                == PublicKeyCredentialCreationOptions(json: Self.creation, host: Self.host))
    }

    @Test func `an unknown attestation means none`() throws {
        let json = changing(Self.creation, "attestation", to: "notarised")
        #expect(try PublicKeyCredentialCreationOptions(json: json, host: Self.host).attestation == .none)
    }

    @Test func `parameters of an unknown type are passed over`() throws {
        let json = changing(
            Self.creation, "pubKeyCredParams",
            to: [["type": "quantum", "alg": -1], ["type": "public-key", "alg": -7]])
        #expect(try PublicKeyCredentialCreationOptions(json: json, host: Self.host).pubKeyCredParams == [-7])
    }

    @Test(arguments: ["excludeCredentials", "allowCredentials"])
    func `credentials of an unknown type are passed over, but not all of them`(name: String) throws {
        let unknown: JSONValue = ["type": "quantum", "id": 1]
        let known: JSONValue = ["type": "public-key", "id": "AQ"]
        func read(_ credentials: JSONValue) throws -> [[UInt8]] {
            name == "excludeCredentials"
                ? try PublicKeyCredentialCreationOptions(
                    json: changing(Self.creation, name, to: credentials), host: Self.host
                ).excludeCredentials
                : try PublicKeyCredentialRequestOptions(
                    json: changing(Self.request, name, to: credentials), host: Self.host
                ).allowCredentials
        }
        #expect(try read([unknown, known]) == [[1]])
        #expect(throws: WebAuthnError.self) { try read([unknown]) }
    }

    /// A member's name, its JSON (nil takes it away), and the place that the error names.
    static let wrongCreationMembers: [(String, String?, String)] = [
        ("rp", nil, "/rp"), ("rp", #"{"id":1,"name":"Issuer"}"#, "/rp/id"), ("rp", #"{"id":"","name":""}"#, "/rp/id"),
        ("rp", #"{"id":"issuer.example"}"#, "/rp/name"), ("user", nil, "/user"),
        ("user", #"{"id":"","name":"","displayName":""}"#, "/user/id"),
        ("user", #"{"id":"\#(Base64URL.encode(Array(repeating: 0, count: 65)))"}"#, "/user/id"),
        ("user", #"{"id":"AQ","displayName":""}"#, "/user/name"),
        ("user", #"{"id":"AQ","name":""}"#, "/user/displayName"), ("challenge", nil, "/challenge"),
        ("challenge", #""AAECAwQFBgcICQoLDA0O""#, "/challenge"), ("pubKeyCredParams", nil, "/pubKeyCredParams"),
        ("pubKeyCredParams", "[1]", "/pubKeyCredParams/0"),
        ("pubKeyCredParams", #"[{"type":"quantum","alg":-1}]"#, "/pubKeyCredParams"),
        ("pubKeyCredParams", #"[{"type":"public-key"}]"#, "/pubKeyCredParams/0/alg"),
        ("pubKeyCredParams", #"[{"type":"public-key","alg":2147483648}]"#, "/pubKeyCredParams/0/alg"),
        ("pubKeyCredParams", #"[{"alg":-7}]"#, "/pubKeyCredParams/0/type"),
        ("excludeCredentials", #"[{"type":"public-key","id":"AQ"},1]"#, "/excludeCredentials/1"),
        ("excludeCredentials", #"[{"type":"public-key","id":""}]"#, "/excludeCredentials/0/id"),
        ("excludeCredentials", #"[{"type":"x","id":"AQ"}]"#, "/excludeCredentials"),
        ("excludeCredentials", #"[{"id":"AQ"}]"#, "/excludeCredentials/0/type"),
        (
            "authenticatorSelection", #"{"userVerification":"sometimes"}"#,
            "/authenticatorSelection/userVerification"
        ),
        ("authenticatorSelection", #""required""#, "/authenticatorSelection"), ("attestation", "1", "/attestation"),
    ]

    @Test(arguments: wrongCreationMembers)
    func `creation options with a member that is wrong are refused, naming it`(
        name: String, text: String?, path: String
    ) throws {
        let json = changing(Self.creation, name, to: try value(text))
        let error = try #require(throws: WebAuthnError.self) {
            try PublicKeyCredentialCreationOptions(json: json, host: Self.host)
        }
        #expect(error.path == path)
    }

    @Test func `request options are read`() throws {
        let options = try PublicKeyCredentialRequestOptions(json: Self.request, host: Self.host)
        #expect(options.challenge == Array(0..<16))
        #expect(options.rpId == "issuer.example")
        #expect(options.allowCredentials == [[1], [2, 3]])
        #expect(options.userVerification == .discouraged)
        #expect(options.timeout == 300_000)
        #expect(options.extensions == ["payment": ["isPayment": true]])
        #expect(try PublicKeyCredentialRequestOptions(json: options.json, host: "other.example") == options)
    }

    @Test func `request options have the standard's defaults`() throws {
        let options = try PublicKeyCredentialRequestOptions(
            json: ["challenge": "AAECAwQFBgcICQoLDA0ODw", "rpId": "issuer.example"], host: Self.host)
        #expect(options.allowCredentials == [])
        #expect(options.userVerification == .preferred)
        #expect(options.timeout == nil)
        #expect(options.extensions == nil)
        #expect(options.json.members.map(\.name) == ["challenge", "rpId", "allowCredentials", "userVerification"])
    }

    static let wrongRequestMembers: [(String, String?, String)] = [
        ("challenge", nil, "/challenge"),
        ("challenge", #""\#(Base64URL.encode(Array(repeating: 0, count: 1_025)))""#, "/challenge"),
        ("rpId", "1", "/rpId"), ("rpId", #""\#(String(repeating: "a", count: 254))""#, "/rpId"),
        ("allowCredentials", #"[{"type":"password","id":"AQ"}]"#, "/allowCredentials"),
        ("allowCredentials", #"[{"type":1,"id":"AQ"}]"#, "/allowCredentials/0/type"),
        ("allowCredentials", #"[{"id":"AQ"}]"#, "/allowCredentials/0/type"),
        ("allowCredentials", #"[{"type":"public-key"}]"#, "/allowCredentials/0/id"),
        ("allowCredentials", #"["AQ"]"#, "/allowCredentials/0"),
        ("allowCredentials", "[\(String(repeating: "1,", count: 256))1]", "/allowCredentials"),
        ("userVerification", #""Required""#, "/userVerification"), ("userVerification", "true", "/userVerification"),
        ("timeout", "-1", "/timeout"), ("timeout", "4294967296", "/timeout"), ("extensions", "[]", "/extensions"),
    ]

    @Test(arguments: wrongRequestMembers)
    func `request options with a member that is wrong are refused, naming it`(
        name: String, text: String?, path: String
    ) throws {
        let json = changing(Self.request, name, to: try value(text))
        let error = try #require(throws: WebAuthnError.self) {
            try PublicKeyCredentialRequestOptions(json: json, host: Self.host)
        }
        #expect(error.path == path)
    }
}
