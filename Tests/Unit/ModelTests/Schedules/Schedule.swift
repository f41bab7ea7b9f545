import IssuerProtocol

/// One thing that happens to an agent; a schedule is a list of them.
///
/// It is written out as Swift, so that a schedule that was found can be pasted as a test.
indirect enum Step: Sendable, Hashable {
    /// A fetch for a card brings these.
    case list(Int, [Message], crash: Crash? = nil)
    /// A person approves the request with this jti; the rest happens while the key is at work.
    case approve(Int, jti: Int, meanwhile: [Step] = [], crash: Crash? = nil)
    case deny(Int, jti: Int, crash: Crash? = nil)
    /// The outbox delivery offers what waits, and the head of one queue gets an answer; the rest happens while that is awaited.
    case deliver(Int, Queue, Fate, meanwhile: [Step] = [])
    /// The clock moves, and nobody looks at it.
    case pass(Int64)
    /// The expiry service does what is due.
    case tick
    case restart
    /// A person ends the enrollment; its issuer is not told.
    case unenroll(Int)
}

/// The two queues of an outbox.
enum Queue: Sendable, Hashable, CaseIterable {
    case approvals, denials
}

/// Where the process dies within a step.
enum Crash: Sendable, Hashable, CaseIterable {
    /// While the key is at work.
    case signing
    /// With everything written but the commit.
    case beforeCommit
    /// With the commit durable and nobody told.
    case afterCommit
}

/// What comes of a decision that is sent.
enum Fate: Sendable, Hashable {
    case taken
    /// The issuer ends it by a listed code.
    case code(ProblemCode)
    /// No answer that counts; whether the issuer took it all the same.
    case again(hadEffect: Bool)
    /// The agent stops before an answer comes.
    case cut(hadEffect: Bool)

    static let codes: [ProblemCode] = [
        .unknownRequest, .alreadyDecided, .expired, .cancelled, .invalidAssertion, .invalidToken,
    ]
}

/// What an issuer lists.
enum Message: Sendable, Hashable {
    case request(PlannedRequest)
    case cancellation(PlannedCancellation)
}

/// An authn request; times are seconds from the start.
///
/// Small numbers, so that jtis, acsTransIds and times meet again and again.
struct PlannedRequest: Sendable, Hashable {
    enum Flaw: Sendable, Hashable, CaseIterable {
        case none
        /// Another key signed it: not authentic.
        case signature
        /// No jti can be read: nothing to answer to.
        case jti
        /// A rule of the transaction does not hold.
        case exponent
        /// The enrollment cannot verify its user.
        case userVerification
    }

    var jti: Int
    var acs = 0
    /// Which transaction; 0 and 1 differ in the amount, 2 in userVerification, 3 in the payment extension.
    var transaction = 0
    var iat: Int64 = 0
    var exp: Int64 = 600
    var isUpperCase = false
    var flaw = Flaw.none
}

struct PlannedCancellation: Sendable, Hashable {
    var jti: Int
    var cancels: Int
    var exp: Int64 = 600
}
