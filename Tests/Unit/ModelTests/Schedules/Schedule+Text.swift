import IssuerProtocol

// Schedules as Swift source.

extension Step: CustomStringConvertible {
    var description: String {
        switch self {
        case .list(let card, let messages, let crash): ".list(\(card), \(messages)\(Self.text(crash)))"
        case .approve(let card, let jti, let meanwhile, let crash):
            ".approve(\(card), jti: \(jti)\(Self.text(meanwhile))\(Self.text(crash)))"
        case .deny(let card, let jti, let crash): ".deny(\(card), jti: \(jti)\(Self.text(crash)))"
        case .deliver(let card, let queue, let fate, let meanwhile):
            ".deliver(\(card), .\(queue), \(fate)\(Self.text(meanwhile)))"
        case .pass(let seconds): ".pass(\(seconds))"
        case .tick: ".tick"
        case .restart: ".restart"
        case .unenroll(let card): ".unenroll(\(card))"
        }
    }

    private static func text(_ crash: Crash?) -> String { crash.map { ", crash: .\($0)" } ?? "" }

    private static func text(_ meanwhile: [Step]) -> String { meanwhile.isEmpty ? "" : ", meanwhile: \(meanwhile)" }
}

extension Fate: CustomStringConvertible {
    var description: String {
        switch self {
        case .taken: ".taken"
        case .code(let code): ".code(.\(code))"
        case .again(let hadEffect): ".again(hadEffect: \(hadEffect))"
        case .cut(let hadEffect): ".cut(hadEffect: \(hadEffect))"
        }
    }
}

extension Message: CustomStringConvertible {
    var description: String {
        switch self {
        case .request(let request): ".request(\(request))"
        case .cancellation(let cancellation): ".cancellation(\(cancellation))"
        }
    }
}

extension PlannedRequest: CustomStringConvertible {
    var description: String {
        let plain = PlannedRequest(jti: jti)
        var members = ["jti: \(jti)"]
        if acs != plain.acs { members.append("acs: \(acs)") }
        if transaction != plain.transaction { members.append("transaction: \(transaction)") }
        if iat != plain.iat { members.append("iat: \(iat)") }
        if exp != plain.exp { members.append("exp: \(exp)") }
        if isUpperCase { members.append("isUpperCase: true") }
        if flaw != .none { members.append("flaw: .\(flaw)") }
        return "PlannedRequest(\(members.joined(separator: ", ")))"
    }
}

extension PlannedCancellation: CustomStringConvertible {
    var description: String {
        let end = exp == PlannedCancellation(jti: jti, cancels: cancels).exp ? "" : ", exp: \(exp)"
        return "PlannedCancellation(jti: \(jti), cancels: \(cancels)\(end))"
    }
}
