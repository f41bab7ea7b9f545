import StrictJSON
import TextAndTime
import ThreeDS

/// An answer of the sandbox, formatted for a shell.
package struct SandboxReport: Sendable {
    /// The answer as text that is safe to print.
    ///
    /// Empty if no fault is set.
    package let text: String
    /// The whole answer, on one line.
    package let json: String

    private init(_ answer: JSONObject, _ text: String) {
        self.text = text
        json = ShownJSON.escaped(JSONValue.object(answer).text)
    }

    static func authenticator(_ answer: JSONObject) -> SandboxReport {
        SandboxReport(answer, "\(Shown.text(answer["id"])) \(Shown.text(answer["state"]))")
    }

    /// Formats the odds and each planned fault on a line of its own, in the syntax of `faults set`.
    static func faults(_ answer: JSONObject) -> SandboxReport {
        let odds = answer["odds"].map { ["odds: \(Shown.text($0))"] } ?? []
        let next = Shown.objects(answer["next"]).map { fault in
            "next: " + Shown.pairs(fault, separator: ",")
        }
        return SandboxReport(answer, (odds + next).joined(separator: "\n"))
    }

    static func cleared(_ answer: JSONObject) -> SandboxReport {
        SandboxReport(answer, "\(Shown.text(answer["cleared"])) planned faults are forgotten, and the odds")
    }

    static func clock(_ answer: JSONObject) -> SandboxReport {
        let ahead = ClockAdvance.text((try? answer.integer("offsetSeconds")) ?? 0)
        let isTest = answer["isTest"] == .bool(true)
        let kind = isTest ? "a test's clock, \(ahead) ahead of the machine's" : "the machine's clock"
        return SandboxReport(answer, "\(Shown.text(answer["now"])), \(kind)")
    }
}

/// The sandbox's list of purchases, the newest first.
package struct PurchaseList: Sendable {
    /// The whole answer, on one line.
    package let json: String
    /// The list as a table that is safe to print; empty if no purchase is listed.
    package let text: String
    /// The acsTransId after which the next page starts, or `nil` on the last page.
    package let next: String?

    init(_ answer: JSONObject) {
        json = ShownJSON.escaped(JSONValue.object(answer).text)
        next = answer["next"].map(Shown.text)
        let rows = Shown.objects(answer["purchases"]).map(Self.row)
        text = rows.isEmpty ? "" : Self.table([["ACSTRANSID", "STATUS", "AMOUNT", "STARTED", "MERCHANT"]] + rows)
    }

    private static func row(_ purchase: JSONObject) -> [String] {
        let transaction = (try? purchase.object("transaction")) ?? [:]
        let members = transaction.members.map { TransactionMember(name: $0.name, value: Shown.plain($0.value)) }
        let amount = (try? Transaction(members: members))?.purchase?.display ?? ""
        return [
            Shown.text(purchase["acsTransId"]), Shown.text(purchase["status"]), amount,
            Shown.text(purchase["createdAt"]), Shown.text(transaction["merchantName"]),
        ]
    }

    /// Formats a table with columns as wide as their widest cell; the last column is not padded.
    private static func table(_ rows: [[String]]) -> String {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            zip(row, widths).map { cell, width in cell + String(repeating: " ", count: width - cell.count) }
                .joined(separator: "  ").trimmedAtEnd
        }.joined(separator: "\n")
    }
}

/// Values of an answer, formatted for a person.
enum Shown {
    /// Returns a string unquoted and any other value as JSON; safe to print.
    static func text(_ value: JSONValue?) -> String { DisplayText(plain(value)).text }

    static func plain(_ value: JSONValue?) -> String {
        guard case .string(let string)? = value else { return value?.text ?? "" }
        return string
    }

    static func objects(_ value: JSONValue?) -> [JSONObject] {
        guard case .array(let elements)? = value else { return [] }
        return elements.compactMap { if case .object(let object) = $0 { object } else { nil } }
    }

    /// Returns pairs of `name=value`.
    static func pairs(
        _ object: JSONObject, without names: Set<String> = [], separator: String = " "
    ) -> String {
        object.members.filter { !names.contains($0.name) }
            .map { "\(DisplayText($0.name).text)=\(text($0.value))" }.joined(separator: separator)
    }
}

extension String {
    fileprivate var trimmedAtEnd: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
