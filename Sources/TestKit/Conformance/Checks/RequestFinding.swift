import IssuerProtocol
import ThreeDS

/// A verdict of `AuthnRequestReader`, in the words of the conformance vectors.
struct RequestFinding {
    let verdict: String
    /// The stable token of the error, or `nil` if there is none.
    let token: String?
    /// The broken rule of `RequestRuleList`, or `nil` if none is broken.
    let rule: String?
    /// The reason, in one line that is safe to print.
    let reason: String

    private init(_ verdict: String, token: String? = nil, rule: String? = nil, _ reason: String = "") {
        self.verdict = verdict
        self.token = token
        self.rule = rule ?? token
        self.reason = reason
    }

    init(_ verdict: MessageVerdict) {
        self =
            switch verdict {
            case .notAuthentic(let error): Self("notAuthentic", token: error.rawValue, error.sentence)
            case .unknownKey(_, let reason): Self("unknownKey", token: "kid", rule: "unknownKey", reason)
            case .unanswerable(let error): Self("unanswerable", token: error.rawValue, rule: error.rule, error.sentence)
            case .cancellation: Self("cancellation")
            case .request(let request): Self(request.verdict)
            }
    }

    private init(_ verdict: RequestVerdict) {
        self =
            switch verdict {
            case .expired: Self("expired", token: "exp", rule: "expired", "exp is past")
            case .early(let seconds): Self("early", token: "iat", rule: "ahead", "iat is \(seconds) seconds ahead")
            case .tooEarly(let seconds):
                Self("tooEarly", token: "iat", rule: "ahead", "iat is \(seconds) seconds ahead, more than 10 minutes")
            case .refused(let refusal): Self("refused", token: refusal.token, rule: refusal.rule, refusal.message)
            case .inOrder: Self("inOrder")
            }
    }

    /// Adds the time to the verdict on a cancellation, because its reader does not check it.
    init(_ cancellation: Cancellation, at now: Int64) {
        guard now < cancellation.exp else {
            self = Self("cancellation", token: "exp", rule: "expired", "exp is past, so it has no effect")
            return
        }
        self =
            switch Earliness(of: cancellation.iat, at: now) {
            case .inTime: Self("cancellation")
            case .early(let seconds):
                Self("cancellation", token: "iat", rule: "ahead", "iat is \(seconds) seconds ahead")
            case .tooEarly(let seconds):
                Self(
                    "cancellation", token: "iat", rule: "ahead", "iat is \(seconds) seconds ahead, more than 10 minutes"
                )
            }
    }

    /// A copy for a signature of the wrong length.
    var ofLength: RequestFinding {
        Self(verdict, token: token, rule: "signatureLength", "the signature has not 64 bytes")
    }
}

extension UnanswerableError {
    fileprivate var rule: String {
        switch self {
        case .tooLarge, .payload, .malformedCancellation: rawValue
        case .jtiMissing, .jtiTwice, .jtiMalformed: "jti"
        }
    }
}

extension RequestRefusal {
    fileprivate var rule: String {
        switch code {
        case .rule(let rule): ruleOfMessage(rule)
        case .transaction(let code):
            switch code {
            case .currencyUnknown, .currencyNotAllowed: "purchaseCurrency"
            case .exponentMismatch, .exponentUndefined: "exponent"
            case .duplicateMember: "duplicateName"
            // The message begins with the member's name.
            case .memberMissing: message.hasPrefix("merchantName ") ? "merchantName" : "acsTransId"
            default: code.rawValue
            }
        }
    }

    /// Returns the rule; some are checked in two places, which the message distinguishes.
    private func ruleOfMessage(_ rule: Rule) -> String {
        switch rule {
        case .expMissing, .expNotInteger: "exp"
        case .iatMissing, .iatNotInteger: "iat"
        case .expNotAfterIat, .lifetimeTooLong: "lifetime"
        case .duplicateName where message.hasPrefix("/exp "): "exp"
        case .duplicateName where message.hasPrefix("/iat "): "iat"
        case .publicKey: message.hasPrefix("publicKey:") ? "options" : "publicKey"
        case .commitment: message.hasPrefix("publicKey.challenge does not commit") ? "commitment" : "challenge"
        default: rule.rawValue
        }
    }
}
