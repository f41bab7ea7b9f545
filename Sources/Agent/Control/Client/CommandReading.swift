package import StrictJSON
import TextAndTime

// Parsing of request bodies in the agent: each member has bounds, which count bytes of UTF-8 for text.

extension EnrollCommand: ControlCommand {
    package static let memberNames = [
        "issuer", "code", "authnType", "name", "caFile", "keyUri", "pin", "push", "persona",
    ]
    /// The allowed length of an enrollment code, in bytes.
    package static let codeBytes = 1...256
    /// The allowed length of an enrollment's name, in bytes.
    ///
    /// The name can be used everywhere the id can.
    package static let nameBytes = 1...256
    /// The maximum size of the CA file, in bytes.
    ///
    /// It leaves room for the other members of a body.
    package static let maxCAFileBytes = 49_152

    package init(json: JSONObject) throws(JSONMemberError) {
        self.init(
            issuer: try json.string("issuer", bytes: 1...2_048), code: try json.string("code", bytes: Self.codeBytes),
            authnType: try json.optionalString("authnType", bytes: 1...16),
            name: try json.optionalString("name", bytes: Self.nameBytes),
            caFile: try json.optionalString("caFile", bytes: 1...Self.maxCAFileBytes),
            keyUri: try json.optionalString("keyUri", bytes: 1...1_024), pin: try json.optionalPIN("pin"),
            push: try json.optionalBool("push"), persona: try json.optionalPersona("persona"))
    }
}

extension PersonaCommand: ControlCommand {
    package static let memberNames = ["persona", "delay", "times", "odds", "seed"]

    /// Reads the members within wide bounds.
    ///
    /// The agent checks later which values a persona allows.
    package init(json: JSONObject) throws(JSONMemberError) {
        self.init(
            persona: try json.string("persona", bytes: 1...64), delay: try json.optionalCount("delay"),
            times: try json.optionalCount("times"), odds: try json.optionalOdds("odds"),
            seed: try json.optionalCount("seed"))
    }
}

extension UnenrollCommand: ControlCommand {
    package static let memberNames = ["local", "force", "erase"]

    package init(json: JSONObject) throws(JSONMemberError) {
        self.init(
            local: try json.optionalBool("local"), force: try json.optionalBool("force"),
            erase: try json.optionalBool("erase"))
    }
}

extension PINChangeCommand: ControlCommand {
    package static let memberNames = ["pin", "newPin"]

    package init(json: JSONObject) throws(JSONMemberError) {
        self.init(pin: try json.pin("pin"), newPin: try json.pin("newPin"))
    }
}

extension PushRotateCommand: ControlCommand {
    package static let memberNames = ["enrollment"]

    package init(json: JSONObject) throws(JSONMemberError) {
        self.init(enrollment: try json.optionalString("enrollment", bytes: EnrollCommand.nameBytes))
    }
}

extension ClockCommand: ControlCommand {
    package static let memberNames = ["advanceSeconds"]

    package init(json: JSONObject) throws(JSONMemberError) {
        let seconds = try json.integer("advanceSeconds")
        do throws(ClockAdvance.Refusal) {
            self.init(try ClockAdvance(seconds: seconds))
        } catch {
            throw JSONMemberError(path: "/advanceSeconds", problem: "\(error)")
        }
    }
}

extension FetchCommand: ControlCommand {
    package static let memberNames = ["enrollment"]

    package init(json: JSONObject) throws(JSONMemberError) {
        self.init(enrollment: try json.optionalString("enrollment", bytes: EnrollCommand.nameBytes))
    }
}

extension DecideCommand: ControlCommand {
    package static let memberNames = [
        "enrollment", "wait", "expectAmount", "expectMerchant", "expectAcsTransId", "reason", "deliveryTimeout",
        "shownTextDigest", "expectShownText", "pin", "decideBefore",
    ]

    package init(json: JSONObject) throws(JSONMemberError) {
        self.init()
        enrollment = try json.optionalString("enrollment", bytes: EnrollCommand.nameBytes)
        wait = try json.optionalSeconds("wait", in: Self.waitRange)
        expectAmount = try json.expectedAmount("expectAmount")
        expectMerchant = try json.optionalString("expectMerchant", bytes: Self.expectMerchantBytes)
        expectAcsTransId = try json.expectedAcsTransId("expectAcsTransId")
        reason = try json.denialReason("reason")
        deliveryTimeout = try json.optionalSeconds("deliveryTimeout", in: Self.deliveryTimeoutRange)
        shownTextDigest = try json.digest("shownTextDigest")
        expectShownText = try json.optionalBool("expectShownText")
        pin = try json.optionalPIN("pin")
        decideBefore = try json.optionalSeconds("decideBefore", in: Self.decideBeforeRange)
    }
}

extension JSONObject {
    fileprivate func optionalPersona(_ name: String) throws(JSONMemberError) -> PersonaCommand? {
        guard let object = try optionalObject(name) else { return nil }
        for member in object.members where !PersonaCommand.memberNames.contains(member.name) {
            let allowed = PersonaCommand.memberNames.joined(separator: ", ")
            throw JSONMemberError(path: "/\(name)", problem: "has a member that there is not; allowed are \(allowed)")
        }
        return try PersonaCommand(json: object)
    }

    fileprivate func optionalCount(_ name: String) throws(JSONMemberError) -> Int? {
        try optionalInteger(name, in: 0...Int64(UInt32.max)).map { Int($0) }
    }

    fileprivate func optionalOdds(_ name: String) throws(JSONMemberError) -> Double? {
        switch self[name] {
        case nil, .null: return nil
        case .number(let lexeme):
            if let odds = Double(lexeme), odds > 0, odds <= 1 { return odds }
            fallthrough
        default: throw JSONMemberError(path: "/\(name)", problem: "must be a number above 0 and at most 1")
        }
    }

    fileprivate func pin(_ name: String) throws(JSONMemberError) -> PINText {
        PINText(try string(name, bytes: PINText.bytes))
    }

    fileprivate func optionalPIN(_ name: String) throws(JSONMemberError) -> PINText? {
        try optionalString(name, bytes: PINText.bytes).map(PINText.init)
    }

    fileprivate func optionalSeconds(_ name: String, in range: ClosedRange<Int>) throws(JSONMemberError) -> Int? {
        let bounds = Int64(range.lowerBound)...Int64(range.upperBound)
        return try optionalInteger(name, in: bounds).map { Int($0) }
    }

    fileprivate func expectedAmount(_ name: String) throws(JSONMemberError) -> String? {
        guard let text = try optionalString(name, bytes: 1...128) else { return nil }
        guard let problem = Expectation.problem(withAmount: text) else { return text }
        throw JSONMemberError(path: "/\(name)", problem: "is not in order: \(problem)")
    }

    fileprivate func expectedAcsTransId(_ name: String) throws(JSONMemberError) -> String? {
        guard let text = try optionalString(name, bytes: 1...64) else { return nil }
        guard let problem = Expectation.problem(withAcsTransId: text) else { return text }
        throw JSONMemberError(path: "/\(name)", problem: "is not in order: \(problem)")
    }

    fileprivate func denialReason(_ name: String) throws(JSONMemberError) -> DenialReason? {
        guard let text = try optionalString(name) else { return nil }
        guard let reason = DenialReason(rawValue: text) else {
            let allowed = DenialReason.allCases.map(\.rawValue).joined(separator: " or ")
            throw JSONMemberError(path: "/\(name)", problem: "must be \(allowed)")
        }
        return reason
    }

    /// Reads a SHA-256 digest, as base64url text.
    fileprivate func digest(_ name: String) throws(JSONMemberError) -> String? {
        try optionalBase64url(name, bytes: 32...32).map(Base64URL.encode)
    }
}
