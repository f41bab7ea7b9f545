import IssuerProtocol
import StrictJSON

/// A step of a case for an approver.
struct ApproverStep: Sendable {
    enum Action: Sendable {
        /// Members of the discovery document to change.
        case discovery(JSONObject)
        case enroll(EnrollOrder)
        /// The answer to the next calls of an endpoint.
        case answer(CaseEndpoint, ScriptedAnswer, times: Int)
        case list(ListOrder)
        /// Lists the same bytes again.
        case relist(request: String)
        case cancel(request: String, ahead: Int)
        /// Publishes the keys with these names, and no others.
        case publish([String])
        /// Members of each published key to change; a `null` removes one.
        case keyMembers(JSONObject)
        case approve(request: String, Outcome)
        case deny(request: String, Outcome)
        case presented(request: String, Bool)
        case decision(DecisionExpectation)
        /// No decision comes for the request, although a valid request behind it is approved.
        case none(request: String)
        case asked(AskedExpectation)
        /// The approver does not call an endpoint for some seconds.
        case quiet(CaseEndpoint, seconds: Int)
        /// The issuer offers a batch fetch.
        case batch
        /// The issuer ends the enrollment: `401 invalid_token` from now on.
        case end
        /// The issuer has accepted a signCount that is greater by this number.
        case signCount(above: Int)
        case restart
    }

    /// The outcome of a command that decides.
    enum Outcome: Sendable {
        case decided
        /// The command reports that it has not decided.
        case refused
        /// A decision comes, regardless of the command's report; the issuer does not accept it.
        case untaken
    }

    struct EnrollOrder: Sendable {
        /// Members of `publicKey` to change; a `null` removes one.
        var options: JSONObject = [:]
        /// Whether `excludeCredentials` names the previously enrolled credential.
        var excludesOwn = false
        var isRefused = false
    }

    struct ListOrder: Sendable {
        var name = "first"
        /// The request whose transaction this request repeats.
        var same: String?
        /// The request whose `acsTransId` this request has, with another transaction.
        var conflicts: String?
        /// The request whose `jti` this request has.
        var jti: String?
        /// Seconds from now to its `iat`.
        var ahead = 0
        var key = ScriptedSandbox.keyID
        /// Whether to make the request without listing it yet.
        var isHeld = false
    }

    struct DecisionExpectation: Sendable {
        let request: String
        /// The reason of a denial, or `nil` for an approval.
        let reason: DenyReason?
    }

    struct AskedExpectation: Sendable {
        let endpoint: CaseEndpoint
        let request: String?
        var least: Int?
        var exactly: Int?
        /// Whether all calls must have the same body.
        var same = false
        /// Whether only calls without a cursor count.
        var withoutCursor = false
    }

    let action: Action

    private static let names = [
        "discovery", "enroll", "answer", "list", "relist", "cancel", "publish", "keyMembers", "approve", "deny",
        "presented", "notPresented", "decision", "none", "asked", "quiet", "batch", "end",
        "signCount", "restart",
    ]

    init(_ node: CaseNode) throws(CaseFileError) {
        let members = try node.members(Self.names)
        guard let (name, value) = members.first, members.count == 1 else {
            throw node.error("a step has one of: \(Self.names.joined(separator: ", "))")
        }
        action =
            switch name {
            case "discovery": .discovery(try Self.object(value))
            case "enroll": .enroll(try Self.enroll(value))
            case "answer": try Self.answer(value)
            case "list": .list(try Self.list(value))
            case "relist": .relist(request: try value.text())
            case "cancel": try Self.cancel(value)
            case "publish": .publish(try value.texts())
            case "keyMembers": .keyMembers(try Self.object(value))
            case "approve", "deny": try Self.decide(name, value)
            case "presented": .presented(request: try value.text(), true)
            case "notPresented": .presented(request: try value.text(), false)
            case "decision": .decision(try Self.decision(value))
            case "none": .none(request: try value.text())
            case "asked": .asked(try Self.asked(value))
            case "quiet": try Self.quiet(value)
            case "batch": .batch
            case "end": .end
            case "signCount": .signCount(above: try value.integer(in: 1...1_000_000))
            default: .restart
            }
    }

    private static func object(_ node: CaseNode) throws(CaseFileError) -> JSONObject {
        guard case .object(let object) = node.json else { throw node.error("must have members") }
        return object
    }

    private static func enroll(_ node: CaseNode) throws(CaseFileError) -> EnrollOrder {
        let members = try node.members(["options", "excludesOwn", "refused"])
        var order = EnrollOrder()
        if let options = members["options"] { order.options = try object(options) }
        if let flag = members["excludesOwn"] { order.excludesOwn = try flag.flag() }
        if let flag = members["refused"] { order.isRefused = try flag.flag() }
        return order
    }

    private static func answer(_ node: CaseNode) throws(CaseFileError) -> Action {
        let members = try node.members(["to", "status", "code", "body", "taken", "times", "retryAfter"])
        guard let endpoint = members["to"] else { throw node.error("to is missing") }
        var script = ScriptedAnswer()
        if let status = members["status"] { script.status = try status.integer(in: 200...599) }
        if let code = members["code"] {
            guard let known = ProblemCode(rawValue: try code.text()) else { throw code.error("no such problem code") }
            script.code = known
        }
        if let body = members["body"] { script.body = try body.choice(ScriptedAnswer.Body.self) }
        if let taken = members["taken"] { script.isTaken = try taken.flag() }
        if let seconds = members["retryAfter"] { script.retryAfter = Int64(try seconds.integer(in: 0...60)) }
        return .answer(
            try endpoint.choice(CaseEndpoint.self), script, times: try members["times"]?.integer(in: 1...100) ?? 1)
    }

    private static func list(_ node: CaseNode) throws(CaseFileError) -> ListOrder {
        let members = try node.members(["as", "same", "conflicts", "jti", "ahead", "key", "held"])
        var order = ListOrder()
        if let name = members["as"] { order.name = try name.text() }
        order.same = try members["same"]?.text()
        order.conflicts = try members["conflicts"]?.text()
        order.jti = try members["jti"]?.text()
        if let ahead = members["ahead"] { order.ahead = try ahead.integer(in: -3_600...3_600) }
        if let held = members["held"] { order.isHeld = try held.flag() }
        if let key = members["key"] { order.key = try key.text() }
        return order
    }

    private static func cancel(_ node: CaseNode) throws(CaseFileError) -> Action {
        let members = try node.members(["request", "ahead"])
        guard let request = members["request"] else { throw node.error("request is missing") }
        return .cancel(request: try request.text(), ahead: try members["ahead"]?.integer(in: 0...3_600) ?? 0)
    }

    private static func decide(_ name: String, _ node: CaseNode) throws(CaseFileError) -> Action {
        let members = try node.members(["request", "refused", "untaken"])
        guard let request = try members["request"]?.text() else { throw node.error("request is missing") }
        let isRefused = try members["refused"]?.flag() ?? false
        let isUntaken = try members["untaken"]?.flag() ?? false
        let outcome: Outcome = isRefused ? .refused : isUntaken ? .untaken : .decided
        return name == "approve" ? .approve(request: request, outcome) : .deny(request: request, outcome)
    }

    private static func decision(_ node: CaseNode) throws(CaseFileError) -> DecisionExpectation {
        let members = try node.members(["request", "reason"])
        guard let request = members["request"] else { throw node.error("request is missing") }
        return DecisionExpectation(request: try request.text(), reason: try members["reason"]?.choice(DenyReason.self))
    }

    private static func quiet(_ node: CaseNode) throws(CaseFileError) -> Action {
        let members = try node.members(["for", "seconds"])
        guard let endpoint = members["for"], let seconds = members["seconds"] else {
            throw node.error("for and seconds must be there")
        }
        return .quiet(try endpoint.choice(CaseEndpoint.self), seconds: try seconds.integer(in: 1...30))
    }

    private static func asked(_ node: CaseNode) throws(CaseFileError) -> AskedExpectation {
        let members = try node.members(["for", "request", "least", "exactly", "same", "withoutCursor"])
        guard let endpoint = members["for"] else { throw node.error("for is missing") }
        var asked = AskedExpectation(
            endpoint: try endpoint.choice(CaseEndpoint.self), request: try members["request"]?.text())
        asked.least = try members["least"]?.integer(in: 1...100)
        asked.exactly = try members["exactly"]?.integer(in: 0...100)
        if let same = members["same"] { asked.same = try same.flag() }
        if let flag = members["withoutCursor"] { asked.withoutCursor = try flag.flag() }
        return asked
    }
}
