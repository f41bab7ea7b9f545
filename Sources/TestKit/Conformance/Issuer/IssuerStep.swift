import StrictJSON
import WrongAssertions

/// One step of a case that is played against an issuer.
struct IssuerStep: Sendable {
    /// Whose token a call carries.
    enum TokenChoice: String, Sendable, CaseIterable {
        case own, none
        /// One that no issuer has given out.
        case wrong
        /// The other cardholder's.
        case other
    }

    enum Action: Sendable {
        case discover
        case keys
        case options(code: CodeChoice)
        case register(Registration)
        /// All of the enrollment, from a new code to the token.
        case enroll(Registration)
        case purchase(PurchaseOrder)
        /// A long poll during which a purchase is made.
        case poll(seconds: Int, PurchaseOrder)
        case fetch(wait: String?, after: CursorChoice, TokenChoice)
        case batch(wait: Int, entries: [BatchEntry])
        case decide(DecisionOrder)
        case status(TokenChoice)
        case unenroll(TokenChoice)
        case subscribe(endpoint: String?)
        case unsubscribe
        case cancel(request: String)
        case outcome(request: String)
        case clock(seconds: Int)
        /// Waits until the request's `exp` is past.
        case expire(request: String)
        /// A call that is written out.
        case call(RawCall)
    }

    enum CodeChoice: Sendable, Equatable {
        case new
        /// The last one, which was used.
        case used
        case text(String)
    }

    struct Registration: Sendable {
        var wrong = WrongRegistration.none
        var algorithm = -7
        /// The same bytes as the last time.
        var again = false
        /// Another body for the same ceremony.
        var changed = false
        var pushEndpoint: String?
    }

    struct PurchaseOrder: Sendable {
        let name: String
        /// Members of the transaction, instead of those that it has else.
        var members: [(name: String, value: String)] = []
        var without: [String] = []
        /// The request whose transaction it has.
        var same: String?
        var lifetime: Int?
        var userVerification: String?
        var payment: JSONObject?
        /// Whether the request must be listed, and be in order.
        var isListed = true
    }

    enum CursorChoice: Sendable, Equatable {
        case none
        /// The one of the last fetch.
        case last
        case text(String)
    }

    struct BatchEntry: Sendable {
        let cardholder: String
        let after: CursorChoice
        let token: TokenChoice
    }

    struct DecisionOrder: Sendable {
        let request: String
        var isApproval = true
        var reason = "userDenied"
        var wrong = WrongAssertion.none
        /// The bytes that were sent last for the request.
        var again = false
        /// The request whose decision is sent for this one.
        var replay: String?
        /// Instead of the request's.
        var jti: String?
        var token = TokenChoice.own
        /// Flags as they are without user verification.
        var isVerified = true
        /// Sent in place of the JSON that it should be.
        var body: String?
    }

    struct RawCall: Sendable {
        let method: String
        /// A member of the discovery document, such as `enrollmentsEndpoint`.
        let endpoint: String
        let path: String
        let body: String?
        let token: TokenChoice
    }

    let action: Action
    let cardholder: String
    let expected: Expectation
    /// How often it is played.
    var times = 1
    /// "FILE:LINE".
    let place: String
}

/// What a step's answer must be; what is nil is not looked at.
struct Expectation: Sendable {
    var statuses: [Int]?
    var code: String?
    var transStatus: String?
    /// The greatest that the kit has sent and the issuer has taken.
    var signCountIsLast = false
    var signCount: Int?
    /// Requests that are listed, by the names that the case gives them.
    var lists: [String] = []
    var listsNot: [String] = []
    /// Requests that a cancellation in the list takes back.
    var cancels: [String] = []
    /// Nothing is listed.
    var isEmpty: Bool?
    /// Seconds.
    var within: Int?
    var notBefore: Int?
    /// The answer is the same as the one before.
    var same = false
    /// By cardholder; for a batch fetch.
    var problems: [String: String] = [:]
    /// Whether the case says anything.
    var isGiven = false
}
