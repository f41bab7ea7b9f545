import StrictJSON
import WrongAssertions

extension IssuerStep {
    private static let verbs = [
        "discover", "keys", "options", "register", "enroll", "purchase", "poll", "fetch", "batch", "decide", "status",
        "unenroll", "subscribe", "unsubscribe", "cancel", "outcome", "clock", "expire", "call",
    ]

    init(_ node: CaseNode) throws(CaseFileError) {
        let members = try node.members(Self.verbs + ["expect", "cardholder", "times"])
        let given = Self.verbs.filter { members[$0] != nil }
        guard given.count == 1, let verb = given.first, let value = members[verb] else {
            throw node.error("a step has one of \(Self.verbs.joined(separator: ", "))")
        }
        action = try Self.action(verb, value)
        cardholder = try members["cardholder"]?.text() ?? "first"
        expected = try members["expect"].map { node throws(CaseFileError) in try Expectation(node) } ?? Expectation()
        times = try members["times"]?.integer(in: 1...1_000) ?? 1
        place = node.place
    }

    private static func action(_ verb: String, _ node: CaseNode) throws(CaseFileError) -> Action {
        func part(_ names: String...) throws(CaseFileError) -> [String: CaseNode] { try node.members(names) }
        switch verb {
        case "discover":
            _ = try part()
            return .discover
        case "keys":
            _ = try part()
            return .keys
        case "options":
            let members = try part("code")
            return .options(code: try members["code"].map { node throws(CaseFileError) in try code(node) } ?? .new)
        case "register": return .register(try Registration(node))
        case "enroll": return .enroll(try Registration(node))
        case "purchase": return .purchase(try PurchaseOrder(node, others: []))
        case "poll":
            let order = try PurchaseOrder(node, others: ["wait"])
            return .poll(seconds: try node.members()["wait"]?.integer(in: 1...60) ?? 20, order)
        case "fetch":
            let members = try part("wait", "after", "token")
            return .fetch(
                wait: try members["wait"]?.text(), after: try CursorChoice(members["after"]),
                try members["token"]?.choice(TokenChoice.self) ?? .own)
        case "batch":
            let members = try part("wait", "entries")
            var entries: [BatchEntry] = []
            for entry in try members["entries"]?.elements() ?? [] { entries.append(try BatchEntry(entry)) }
            return .batch(wait: try members["wait"]?.integer(in: 0...60) ?? 0, entries: entries)
        case "decide": return .decide(try DecisionOrder(node))
        case "status": return .status(try part("token")["token"]?.choice(TokenChoice.self) ?? .own)
        case "unenroll": return .unenroll(try part("token")["token"]?.choice(TokenChoice.self) ?? .own)
        case "subscribe": return .subscribe(endpoint: try part("endpoint")["endpoint"]?.text())
        case "unsubscribe":
            _ = try part()
            return .unsubscribe
        case "cancel": return .cancel(request: try name(node))
        case "outcome": return .outcome(request: try name(node))
        case "expire": return .expire(request: try name(node))
        case "clock": return .clock(seconds: try part("seconds")["seconds"]?.integer(in: 1...604_800) ?? 1)
        default: return .call(try RawCall(node))
        }
    }

    private static func code(_ node: CaseNode) throws(CaseFileError) -> CodeChoice {
        switch try node.text() {
        case "new": .new
        case "used": .used
        case let text: .text(text)
        }
    }

    private static func name(_ node: CaseNode) throws(CaseFileError) -> String {
        guard let name = try node.members(["request"])["request"] else { throw node.error("request is missing") }
        return try name.text()
    }
}

extension IssuerStep.CursorChoice {
    init(_ node: CaseNode?) throws(CaseFileError) {
        switch try node?.text() {
        case nil, "none"?: self = .none
        case "last"?: self = .last
        case let text?: self = .text(text)
        }
    }
}

extension IssuerStep.BatchEntry {
    init(_ node: CaseNode) throws(CaseFileError) {
        let members = try node.members(["cardholder", "after", "token"])
        cardholder = try members["cardholder"]?.text() ?? "first"
        after = try IssuerStep.CursorChoice(members["after"])
        token = try members["token"]?.choice(IssuerStep.TokenChoice.self) ?? .own
    }
}

extension IssuerStep.Registration {
    init(_ node: CaseNode) throws(CaseFileError) {
        let members = try node.members(["wrong", "algorithm", "again", "changed", "pushEndpoint"])
        wrong = try members["wrong"]?.choice(WrongRegistration.self) ?? .none
        algorithm = try members["algorithm"]?.integer(in: -65_535...0) ?? -7
        again = try members["again"]?.flag() ?? false
        changed = try members["changed"]?.flag() ?? false
        pushEndpoint = try members["pushEndpoint"]?.text()
    }
}

extension IssuerStep.PurchaseOrder {
    init(_ node: CaseNode, others: [String]) throws(CaseFileError) {
        let members = try node.members(
            ["as", "set", "unset", "same", "lifetime", "userVerification", "payment", "listed"] + others)
        name = try members["as"]?.text() ?? "purchase"
        for (name, value) in try members["set"]?.members() ?? [:] { self.members.append((name, try value.text())) }
        self.members.sort { $0.name < $1.name }
        without = try members["unset"]?.texts() ?? []
        same = try members["same"]?.text()
        lifetime = try members["lifetime"]?.integer(in: 1...86_400)
        userVerification = try members["userVerification"]?.text()
        if let node = members["payment"] {
            guard case .object(let object) = node.json else { throw node.error("payment must have members") }
            payment = object
        }
        isListed = try members["listed"]?.flag() ?? true
    }
}

extension IssuerStep.DecisionOrder {
    init(_ node: CaseNode) throws(CaseFileError) {
        let members = try node.members([
            "request", "decision", "reason", "wrong", "again", "replay", "jti", "token", "verified", "body",
        ])
        guard let request = members["request"] else { throw node.error("request is missing") }
        self.request = try request.text()
        switch try members["decision"]?.text() ?? "approve" {
        case "approve": isApproval = true
        case "deny": isApproval = false
        default: throw (members["decision"] ?? node).error("decision must be approve or deny")
        }
        reason = try members["reason"]?.text() ?? "userDenied"
        wrong = try members["wrong"]?.choice(WrongAssertion.self) ?? .none
        again = try members["again"]?.flag() ?? false
        replay = try members["replay"]?.text()
        jti = try members["jti"]?.text()
        token = try members["token"]?.choice(IssuerStep.TokenChoice.self) ?? .own
        isVerified = try members["verified"]?.flag() ?? true
        body = try members["body"]?.text()
    }
}

extension IssuerStep.RawCall {
    init(_ node: CaseNode) throws(CaseFileError) {
        let members = try node.members(["method", "endpoint", "path", "body", "token"])
        guard let endpoint = members["endpoint"] else { throw node.error("endpoint is missing") }
        self.endpoint = try endpoint.text()
        method = try members["method"]?.text() ?? "POST"
        path = try members["path"]?.text() ?? ""
        body = try members["body"]?.text()
        token = try members["token"]?.choice(IssuerStep.TokenChoice.self) ?? .none
    }
}

extension Expectation {
    init(_ node: CaseNode) throws(CaseFileError) {
        let members = try node.members([
            "status", "code", "transStatus", "signCount", "lists", "listsNot", "cancels", "empty", "within",
            "notBefore",
            "same", "problems",
        ])
        isGiven = true
        if let node = members["status"] {
            var statuses: [Int] = []
            for text in try node.texts() {
                guard let status = Int(text), (100...599).contains(status) else {
                    throw node.error("status must be 100 to 599, or a list of such")
                }
                statuses.append(status)
            }
            self.statuses = statuses
        }
        code = try members["code"]?.text()
        transStatus = try members["transStatus"]?.text()
        if let node = members["signCount"] {
            signCountIsLast = try node.text() == "last"
            if !signCountIsLast { signCount = try node.integer(in: 0...4_294_967_295) }
        }
        lists = try members["lists"]?.texts() ?? []
        listsNot = try members["listsNot"]?.texts() ?? []
        cancels = try members["cancels"]?.texts() ?? []
        isEmpty = try members["empty"]?.flag()
        within = try members["within"]?.integer(in: 1...60)
        notBefore = try members["notBefore"]?.integer(in: 1...60)
        same = try members["same"]?.flag() ?? false
        for (name, value) in try members["problems"]?.members() ?? [:] { problems[name] = try value.text() }
    }
}
