import StrictJSON
import WrongAssertions

/// A step of a case for an issuer.
struct IssuerStep: Sendable {
    /// The token that a call carries.
    enum TokenChoice: String, Sendable, CaseIterable {
        case own, none
        /// A token that no issuer has given out.
        case wrong
        /// The other cardholder's token.
        case other
    }

    enum Action: Sendable {
        case discover
        case keys
        case options(code: CodeChoice)
        case register(Registration)
        /// The whole enrollment, from a new code to the token.
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
        /// Waits until the request's `exp` has passed.
        case expire(request: String)
        /// A call that the case specifies in full.
        case call(RawCall)
    }

    enum CodeChoice: Sendable, Equatable {
        case new
        /// The last code, which has been used.
        case used
        case text(String)
    }

    struct Registration: Sendable {
        var wrong = WrongRegistration.none
        var algorithm = -7
        /// Whether to send the same bytes as the last time.
        var again = false
        /// Whether to send another body for the same ceremony.
        var changed = false
        var pushEndpoint: String?
    }

    struct PurchaseOrder: Sendable {
        let name: String
        /// Members of the transaction that replace the usual ones.
        var members: [(name: String, value: String)] = []
        var without: [String] = []
        /// The request whose transaction this purchase repeats.
        var same: String?
        var lifetime: Int?
        var userVerification: String?
        var payment: JSONObject?
        /// Whether a valid request must be listed.
        var isListed = true
    }

    enum CursorChoice: Sendable, Equatable {
        case none
        /// The cursor of the last fetch.
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
        /// Whether to send the last bytes for the request again.
        var again = false
        /// The request whose decision is sent for this request.
        var replay: String?
        /// The jti to send instead of the request's.
        var jti: String?
        var token = TokenChoice.own
        /// Whether UV is among the flags.
        var isVerified = true
        /// The body to send instead of valid JSON.
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
    /// The number of times that the step is played.
    var times = 1
    /// The position of the step, as "FILE:LINE".
    let place: String
}

/// The expected answer of a step; a member that is `nil` is not checked.
struct Expectation: Sendable {
    var statuses: [Int]?
    var code: String?
    var transStatus: String?
    /// Whether it must be the greatest signCount that the issuer has accepted from the kit.
    var signCountIsLast = false
    var signCount: Int?
    /// The requests that must be listed, by the case's names.
    var lists: [String] = []
    var listsNot: [String] = []
    /// The requests for which the list must have a cancellation.
    var cancels: [String] = []
    /// Whether an empty list is expected.
    var isEmpty: Bool?
    /// The latest time of the answer, in seconds; `notBefore` is the earliest.
    var within: Int?
    var notBefore: Int?
    /// Whether it must be the same answer as the previous one.
    var same = false
    /// The problem codes of a batch fetch, by cardholder.
    var problems: [String: String] = [:]
    /// Whether this case has an expectation at all.
    var isGiven = false
}
