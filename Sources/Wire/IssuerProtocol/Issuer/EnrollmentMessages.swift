package import StrictJSON
import TextAndTime
package import WebAuthn

/// The first step of an enrollment: the code that the issuer handed out.
package struct EnrollmentOptionsRequest: Sendable {
    package let enrollmentCode: EnrollmentCode

    package init(enrollmentCode: EnrollmentCode) { self.enrollmentCode = enrollmentCode }

    package init(bytes: [UInt8]) throws(ProtocolError) {
        enrollmentCode = try ProtocolError.readingObject("enrollment options request", in: bytes) { object in
            let name = "enrollmentCode"
            guard let code = EnrollmentCode(try object.string(name, bytes: EnrollmentCode.bytes)) else {
                throw JSONMemberError(path: "/\(name)", problem: "is no enrollment code")
            }
            return code
        }
    }

    package var bytes: [UInt8] {
        let body: JSONObject = ["enrollmentCode": .string(enrollmentCode.reveal())]
        return body.serialized()
    }
}

/// The issuer's answer to a code: a ceremony, and the options for the new credential.
package struct EnrollmentOptionsAnswer: Sendable, Equatable {
    /// 1 to 256 characters of printable ASCII.
    package let ceremonyId: String
    package let options: PublicKeyCredentialCreationOptions

    package init(ceremonyId: String, options: PublicKeyCredentialCreationOptions) {
        self.ceremonyId = ceremonyId
        self.options = options
    }

    /// - Parameter issuer: the sender. Its host is the RP ID if `rp.id` is absent.
    package init(bytes: [UInt8], from issuer: IssuerURL) throws(ProtocolError) {
        self = try ProtocolError.readingObject("enrollment options", in: bytes) { object in
            EnrollmentOptionsAnswer(
                ceremonyId: try object.ceremonyId(),
                options: try PublicKeyCredentialCreationOptions(
                    json: object.object("publicKey"), host: issuer.host))
        }
    }

    package var json: JSONObject { ["ceremonyId": .string(ceremonyId), "publicKey": .object(options.json)] }
}

/// The second step of an enrollment: the new credential, and the authenticator that made it.
package struct EnrollmentRequest: Sendable, Equatable {
    package let ceremonyId: String
    package let credential: RegistrationResponse
    /// The name that a person gave to this authenticator: 1 to 256 bytes.
    package private(set) var name: String
    /// The agent's version: 1 to 64 bytes.
    package let version: String
    package let authnType: AuthnType
    /// The push subscription for the issuer.
    ///
    /// `nil` if the issuer must not push.
    package let pushSubscription: PushSubscription?

    package init(
        ceremonyId: String, credential: RegistrationResponse, name: String, version: String, authnType: AuthnType,
        pushSubscription: PushSubscription? = nil
    ) {
        self.ceremonyId = ceremonyId
        self.credential = credential
        self.name = name
        self.version = version
        self.authnType = authnType
        self.pushSubscription = pushSubscription
    }

    package init(bytes: [UInt8]) throws(ProtocolError) {
        self = try ProtocolError.readingObject("enrollment", in: bytes) { object in
            let authenticator = try object.object("authenticator")
            guard let authnType = AuthnType(exactly: try authenticator.string("authnType")) else {
                throw JSONMemberError(path: "/authenticator/authnType", problem: "must be pin, presence or test")
            }
            _ = try authenticator.string("platform", bytes: 1...64)
            return EnrollmentRequest(
                ceremonyId: try object.ceremonyId(),
                credential: try RegistrationResponse(json: object.object("credential")),
                name: try authenticator.string("name", bytes: 1...256),
                version: try authenticator.string("version", bytes: 1...64), authnType: authnType,
                pushSubscription: try object.pushSubscription())
        }
    }

    /// Returns a copy with another name.
    package func named(_ name: String) -> EnrollmentRequest {
        var request = self
        request.name = name
        return request
    }

    /// The body of the request.
    ///
    /// The agent stores it first, and resends the stored bytes. It contains the auth secret of the push subscription in
    /// clear.
    package var bytes: [UInt8] {
        var body: JSONObject = [
            "ceremonyId": .string(ceremonyId), "credential": .object(credential.json),
            "authenticator": [
                "name": .string(name), "platform": "linux", "version": .string(version),
                "authnType": .string(authnType.rawValue),
            ],
        ]
        body["pushSubscription"] = pushSubscription.map { .object($0.json) }
        return body.serialized()
    }
}

/// The issuer's answer to a credential that it accepted.
package struct EnrollmentAnswer: Sendable {
    package let authenticatorId: TokenID
    package let accessToken: AccessToken

    package init(authenticatorId: TokenID, accessToken: AccessToken) {
        self.authenticatorId = authenticatorId
        self.accessToken = accessToken
    }

    package init(bytes: [UInt8]) throws(ProtocolError) {
        self = try ProtocolError.readingObject("enrollment answer", in: bytes) { object in
            EnrollmentAnswer(
                authenticatorId: try object.tokenID("authenticatorId"),
                accessToken: try object.accessToken("accessToken"))
        }
    }

    /// The body of the answer.
    ///
    /// It contains the token in clear. Do not log it.
    package var json: JSONObject {
        ["authenticatorId": .string(authenticatorId.text), "accessToken": .string(accessToken.reveal())]
    }
}

/// The issuer's record of an authenticator.
package struct AuthenticatorStatus: Sendable, Equatable {
    package let authenticatorId: TokenID
    /// The greatest signCount that the issuer accepted.
    package let signCount: UInt32

    package init(authenticatorId: TokenID, signCount: UInt32) {
        self.authenticatorId = authenticatorId
        self.signCount = signCount
    }

    package init(bytes: [UInt8]) throws(ProtocolError) {
        self = try ProtocolError.readingObject("authenticator", in: bytes) { object in
            AuthenticatorStatus(
                authenticatorId: try object.tokenID("authenticatorId"),
                signCount: UInt32(try object.integer("signCount", in: 0...Int64(UInt32.max))))
        }
    }

    package var json: JSONObject {
        ["authenticatorId": .string(authenticatorId.text), "signCount": .integer(Int64(signCount))]
    }
}

extension JSONObject {
    /// Reads the push subscription.
    ///
    /// `nil` if the member is absent or null.
    fileprivate func pushSubscription() throws(JSONMemberError) -> PushSubscription? {
        let name = "pushSubscription"
        guard let member = self[name], member != .null else { return nil }
        let subscription = try object(name)
        do throws(JSONMemberError) {
            return try PushSubscription(json: subscription)
        } catch {
            throw error.inside(name)
        }
    }

    fileprivate func ceremonyId() throws(JSONMemberError) -> String {
        let id = try string("ceremonyId", bytes: 1...256)
        guard id.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw JSONMemberError(path: "/ceremonyId", problem: "must be printable ASCII")
        }
        return id
    }
}

/// The issuer's code for an enrollment: 1 to 256 bytes, secret until it is used.
///
/// No form of printing shows it.
package struct EnrollmentCode: Sendable, Equatable {
    package static let bytes = 1...256

    private let code: String

    package init?(_ text: String) {
        guard Self.bytes.contains(text.utf8.count) else { return nil }
        code = text
    }

    /// Creates a code from text that a person typed, copied or keeps in a file.
    ///
    /// A byte order mark before the code and the white space around it are left out.
    package init?(typed text: String) { self.init(TypedText.trimmed(text)) }

    /// Returns the code itself, for the one message that carries it to the issuer.
    package func reveal() -> String { code }

    /// Compares by bytes.
    ///
    /// The operator `==` of `String` is canonical equivalence, under which other bytes may be equal.
    package static func == (left: EnrollmentCode, right: EnrollmentCode) -> Bool {
        left.code.utf8.elementsEqual(right.code.utf8)
    }
}

extension EnrollmentCode: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var debugDescription: String { "<redacted>" }
    // `dump` would show the stored property.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
