import IssuerProtocol
import StrictJSON
import TextAndTime
import ThreeDS

/// What the payer is asked to approve, and the text that says it.
enum TransactionChecks {
    /// The bytes are the transaction as a JSON object.
    static func transaction(_ input: [UInt8]) throws {
        guard let object = try? JSONReader.object(input, limits: JSONLimits(maxBytes: 16_384)) else { return }
        let members = object.members.compactMap { member in
            if case .string(let value) = member.value {
                TransactionMember(name: member.name, value: value)
            } else {
                nil
            }
        }
        let transaction: Transaction
        do throws(TransactionRefusal) {
            transaction = try Transaction(members: members)
        } catch {
            try mustHold(!error.code.isPolicy, "the policy refuses nothing that is in order")
            return try mustBeOneLine(error.message, "a refusal's message")
        }
        try mustHold(transaction.members == members, "a transaction has the members that came, in their order")
        try check(transaction, payment: nil, warnings: try transaction.warnings(under: .warn))
    }

    static func check(_ transaction: Transaction, payment: PaymentExtension?, warnings: [Warning]) throws {
        try mustHold(transaction.members.count <= 16, "a transaction has at most 16 members")
        let bytes = try ChallengeCommitment.transactionBytes(transaction.members)
        let read = try JSONReader.object(bytes, limits: JSONLimits(maxBytes: bytes.count))
        let members = transaction.members.map { JSONObject.Member(name: $0.name, value: .string($0.value)) }
        try mustHold(
            read.members.count == members.count && members.allSatisfy(read.members.contains), "all is committed")
        if let purchase = transaction.purchase { try check(purchase) }
        let text = TransactionText(
            transaction: transaction, issuer: "https://issuer.example", enrollment: "test", expiresAt: 1_697_522_798,
            payeeOrigin: payment?.payeeOrigin, instrument: payment?.displayName, icon: payment?.shownIcon,
            warnings: warnings, localTime: .utc)
        try check(text.text, labels(of: transaction, payment, warnings))
        try mustBeOneLine(text.question, "the question")
        try mustHold(text.question.contains(transaction.purchase?.display ?? "not a payment"), "it repeats the amount")
    }

    /// Digits in, the same digits out, and no other amount meets the expectation of this one.
    private static func check(_ purchase: Purchase) throws {
        let digits = purchase.majorUnits.filter { $0 != "." }.drop { $0 == "0" }
        try mustHold((digits.isEmpty ? "0" : digits) == purchase.amount.minorUnits, "the digits are those that came")
        let decimals = purchase.majorUnits.split(separator: ".").dropFirst().first?.utf8.count ?? 0
        try mustHold(decimals == purchase.exponent.decimals, "there are as many decimals as the exponent says")
        let code = purchase.currency.alphabetic
        for text in [purchase.display, "\(code) \(purchase.majorUnits)"] {
            try mustHold(try ExpectedAmount(text).holds(for: purchase), "the amount is met as it is written")
        }
        let more = try? ExpectedAmount("\(code) 1\(purchase.majorUnits)")
        try mustHold(more?.holds(for: purchase) != true, "another amount is not met")
    }

    /// One line a field, in their order, each with its label.
    private static func check(_ text: String, _ labels: [String]) throws {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        try mustHold(lines.count == labels.count, "there is one line for each field")
        for (line, label) in zip(lines, labels) {
            try mustHold(line.hasPrefix("\(label):"), "the line of \(label) begins with its label")
            try mustHold(line.utf8.last != UInt8(ascii: " "), "no line ends in a space")
            try TextChecks.mustBeFitToShow(String(line.drop { $0 != ":" }))
        }
    }

    private static func labels(
        of transaction: Transaction, _ payment: PaymentExtension?, _ warnings: [Warning]
    ) -> [String] {
        ["Amount", "Merchant"] + (payment?.payeeOrigin == nil ? [] : ["Payee"])
            + (transaction.purchase == nil ? [] : ["Date"]) + ["Issuer", "Enrollment"]
            + (payment == nil ? [] : ["Instrument", "Icon"]) + ["Expires"] + warnings.map { _ in "Warning" }
            + (transaction.threeDSRequestorAppURL == nil ? [] : ["Return URL"]) + ["acsTransId"]
            + transaction.otherMembers.map { "Member \($0.name)" }
    }
}
