/// Each parser of bytes from outside, and what takes in messages with a database behind it, by the name of its fuzz
/// target and of its folder of seeds.
///
/// A fuzzer and the tests give a target the same bytes: whatever they are, its properties have to hold.
enum FuzzTarget: String, Sendable, CaseIterable {
    case json, base64url
    case compactJWS = "compact-jws"
    case authnRequest = "authn-request"
    case cancellation, transaction
    case displayText = "display-text"
    case expectedAmount = "expected-amount"
    case appURL = "app-url"
    case cbor
    case coseKey = "cose-key"
    case authenticatorData = "authenticator-data"
    case attestationObject = "attestation-object"
    case clientData = "client-data"
    case credential
    case credentialOptions = "credential-options"
    case issuerURL = "issuer-url"
    case discovery
    case jwkSet = "jwk-set"
    case problem
    case issuerAnswer = "issuer-answer"
    case issuerRequest = "issuer-request"
    case requestList = "request-list"
    case batchFetch = "batch-fetch"
    case retryAfter = "retry-after"
    case publicKey = "public-key"
    case signature
    case sealedKey = "sealed-key"
    case keyURI = "key-uri"
    case pin
    case pushMessage = "push-message"
    case pushSubscription = "push-subscription"
    case vapid
    case controlCommand = "control-command"
    case enrollLink = "enroll-link"
    case config
    case received

    /// Throws `Broken` where a property does not hold.
    func check(_ input: [UInt8]) async throws {
        switch self {
        case .received: try await CoreChecks.received(input)
        default: try checkParser(input)
        }
    }

    /// The same, for a target that waits for nobody: a parser.
    func checkParser(_ input: [UInt8]) throws {
        switch self {
        case .json: try JSONChecks.json(input)
        case .base64url: try JSONChecks.base64url(input)
        case .compactJWS: try AuthnRequestChecks.compactJWS(input)
        case .authnRequest: try AuthnRequestChecks.authnRequest(input)
        case .cancellation: try AuthnRequestChecks.cancellation(input)
        case .transaction: try TransactionChecks.transaction(input)
        case .displayText: try TextChecks.displayText(input)
        case .expectedAmount: try TextChecks.expectedAmount(input)
        case .appURL: try TextChecks.appURL(input)
        case .cbor: try CBORChecks.cbor(input)
        case .coseKey: try CBORChecks.coseKey(input)
        case .authenticatorData: try CBORChecks.authenticatorData(input)
        case .attestationObject: try CBORChecks.attestationObject(input)
        case .clientData: try CredentialChecks.clientData(input)
        case .credential: try CredentialChecks.credential(input)
        case .credentialOptions: try CredentialChecks.options(input)
        case .issuerURL: try IssuerChecks.issuerURL(input)
        case .discovery: try IssuerChecks.discovery(input)
        case .jwkSet: try IssuerChecks.jwkSet(input)
        case .problem: try IssuerChecks.problem(input)
        case .issuerAnswer: try MessageChecks.answer(input)
        case .issuerRequest: try MessageChecks.request(input)
        case .requestList: try MessageChecks.requestList(input)
        case .batchFetch: try MessageChecks.batchFetch(input)
        case .retryAfter: try MessageChecks.retryAfter(input)
        case .publicKey: try KeyChecks.publicKey(input)
        case .signature: try KeyChecks.signature(input)
        case .sealedKey: try KeyChecks.sealedKey(input)
        case .keyURI: try KeyChecks.keyURI(input)
        case .pin: try KeyChecks.pin(input)
        case .pushMessage: try PushChecks.message(input)
        case .pushSubscription: try PushChecks.subscription(input)
        case .vapid: try PushChecks.vapid(input)
        case .controlCommand: try ControlChecks.command(input)
        case .enrollLink: try ControlChecks.enrollLink(input)
        case .config: try ControlChecks.config(input)
        case .received: throw Broken(description: "it is no parser")
        }
    }
}
