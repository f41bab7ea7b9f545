#if Personas
package import AgentConfig
import IssuerProtocol
import Records
import TextAndTime
import ThreeDS

/// A tester's rule for requests of `test` enrollments; the first rule that matches decides.
package struct Rule: Sendable, Equatable {
    package enum Outcome: String, Sendable, CaseIterable { case approve, deny, ask }

    let name: String
    let conditions: Conditions
    let outcome: Outcome
    /// The number of requests that it decides, or `nil` for all.
    let times: Int?

    /// The conditions of the rule, of which `nil` matches every request.
    struct Conditions: Sendable, Equatable {
        var merchantName: Glob?
        var currency: Currency?
        var minAmount: DecimalAmount?
        var maxAmount: DecimalAmount?
        /// The issuer's URL, as stored with the enrollment.
        var issuer: String?
        /// An enrollment's id or name.
        var enrollment: String?
    }

    /// The persona for the rule's outcome.
    var persona: Persona {
        switch outcome {
        case .approve: .autoApprove
        case .deny: .autoDeny
        case .ask: .ask
        }
    }

    /// The first condition that does not hold for a request, as a sentence, or `nil` if all hold.
    func mismatch(_ request: RequestRecord, of enrollment: Enrollment) -> String? {
        guard let transaction = request.presented?.transaction else { return "there is no transaction" }
        if let glob = conditions.merchantName, !glob.matches(transaction.merchantName) {
            return "merchantName does not match"
        }
        if let currency = conditions.currency, transaction.purchase?.currency != currency {
            return "the currency is another"
        }
        if conditions.minAmount != nil || conditions.maxAmount != nil {
            guard let amount = transaction.purchase.flatMap({ DecimalAmount($0.majorUnits) }) else {
                return "it is no payment"
            }
            if let least = conditions.minAmount, amount < least { return "the amount is below minAmount" }
            if let most = conditions.maxAmount, most < amount { return "the amount is above maxAmount" }
        }
        if let issuer = conditions.issuer, issuer != enrollment.target.issuer.text { return "the issuer is another" }
        if let wanted = conditions.enrollment, wanted != enrollment.id.text, wanted != enrollment.name {
            return "the enrollment is another"
        }
        return nil
    }
}

extension Rule {
    private static let members = ["name", "when", "then", "times"]
    private static let conditionNames = [
        "merchantName", "currency", "minAmount", "maxAmount", "issuer", "enrollment",
    ]

    /// Parses the rules of a config file, in their order.
    ///
    /// - Throws: `ConfigError` with the file, the line and the permitted values.
    package static func all(in entries: [ConfigEntry]) throws(ConfigError) -> [Rule] {
        var rules: [Rule] = []
        for (index, entry) in entries.enumerated() {
            let rule = try Rule(entry, number: index + 1)
            guard !rules.contains(where: { $0.name == rule.name }) else {
                throw ConfigError("\(entry.place): two rules have the name \(rule.name)")
            }
            rules.append(rule)
        }
        return rules
    }

    private init(_ entry: ConfigEntry, number: Int) throws(ConfigError) {
        try entry.expect(Self.members)
        for name in ["name", "then", "times"] where entry.parts[name] != nil {
            throw ConfigError("\(entry.place): \(name) must be one value")
        }
        if let when = entry.members["when"] {
            throw ConfigError(
                "\(when.place): must be members such as `merchantName: Coffee*`, each on a line of its own")
        }
        let name = entry.members["name"]
        if let name, !(1...64).contains(name.value.utf8.count) || !name.value.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) {
            throw ConfigError("\(name.place): must have 1 to 64 visible characters of ASCII")
        }
        let outcomes = Outcome.allCases.map(\.rawValue)
        guard let then = entry.members["then"] else {
            throw ConfigError("\(entry.place): `then` is missing; allowed are \(outcomes.joined(separator: ", "))")
        }
        guard let outcome = Outcome(rawValue: then.value) else {
            throw ConfigError("\(then.place): \(NearestName.advice(for: then.value, among: outcomes))")
        }
        self.name = name?.value ?? "rule \(number)"
        self.outcome = outcome
        times = try entry.members["times"].map { member throws(ConfigError) in
            guard let times = Int(member.value), PersonaSetting.timesRange.contains(times) else {
                throw ConfigError("\(member.place): must be a whole number from 1 to 1000000")
            }
            return times
        }
        conditions =
            try entry.parts["when"].map { part throws(ConfigError) in try Self.conditions(part) } ?? Conditions()
    }

    private static func conditions(_ entry: ConfigEntry) throws(ConfigError) -> Conditions {
        try entry.expect(conditionNames)
        if let part = entry.parts.first { throw ConfigError("\(part.value.place): \(part.key) must be one value") }
        var conditions = Conditions()
        for (name, member) in entry.members {
            switch name {
            case "merchantName": conditions.merchantName = Glob(member.value)
            case "currency":
                guard let currency = Currency.alphabetic(member.value) ?? Currency.numeric(member.value) else {
                    throw ConfigError("\(member.place): must be a code of ISO 4217, such as USD")
                }
                conditions.currency = currency
            case "minAmount": conditions.minAmount = try amount(member)
            case "maxAmount": conditions.maxAmount = try amount(member)
            case "issuer":
                do throws(ProtocolError) {
                    conditions.issuer = try IssuerURL(written: member.value).text
                } catch {
                    throw ConfigError("\(member.place): \(error)")
                }
            default: conditions.enrollment = member.value
            }
        }
        guard conditions.currency != nil || (conditions.minAmount == nil && conditions.maxAmount == nil) else {
            throw ConfigError("\(entry.place): minAmount and maxAmount go with currency, such as `currency: USD`")
        }
        return conditions
    }

    private static func amount(_ member: ConfigFile.Member) throws(ConfigError) -> DecimalAmount {
        guard let amount = DecimalAmount(member.value) else {
            throw ConfigError("\(member.place): must be an amount such as 10.00, of at most 48 digits")
        }
        return amount
    }
}
#endif
