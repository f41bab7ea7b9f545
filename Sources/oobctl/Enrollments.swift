import ArgumentParser
import Control
import FoundationEssentials

struct Enrollments: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "List the enrollments.")

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.run { client, output throws(ClientFailure) in
            let enrollments = try await client.enrollments()
            try output.data(enrollments, text: Self.tables)
            return .done
        }
    }

    /// The enrollments, and how those come by their messages that are pushed to; empty where there is none.
    static func tables(_ enrollments: [EnrollmentView]) -> String {
        [table(enrollments), pushTable(enrollments)].filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    private static func table(_ enrollments: [EnrollmentView]) -> String {
        guard !enrollments.isEmpty else { return "" }
        let rows = enrollments.map {
            [
                $0.id, $0.issuer, $0.name, $0.authnType, $0.state.rawValue, String($0.signCount), $0.enrolledAt ?? "",
                $0.key.text, $0.testText,
            ]
        }
        let heading = ["ID", "ISSUER", "NAME", "AUTHN TYPE", "STATE", "SIGN COUNT", "ENROLLED", "KEY", "KEY TESTED"]
        return Table(heading: heading, rows: rows).text
    }

    private static func pushTable(_ enrollments: [EnrollmentView]) -> String {
        let now = Int64(Date().timeIntervalSince1970)
        let rows = enrollments.compactMap { card in card.push.map { [card.id] + $0.cells(now: now) } }
        return rows.isEmpty ? "" : Table(heading: ["PUSH TO"] + PushView.heading, rows: rows).text
    }

    /// What keeps each key, where, and how it was last looked at; empty where there is none.
    static func keyTable(_ enrollments: [EnrollmentView]) -> String {
        guard !enrollments.isEmpty else { return "" }
        let rows = enrollments.map { [$0.id, $0.key.text, $0.testText, $0.keyUri] }
        return Table(heading: ["ENROLLMENT", "KEY", "KEY TESTED", "KEY URI"], rows: rows).text
    }
}

extension EnrollmentView {
    fileprivate var testText: String { keyTest?.text ?? "not yet" }
}

extension KeyView {
    /// What keeps it, and whether it can leave that place.
    fileprivate var text: String {
        switch exportable {
        case true?: "\(kind), exportable"
        case false?: "\(kind), not exportable"
        case nil: "\(kind), exportable or not: cannot tell"
        }
    }
}

extension KeyTestView {
    fileprivate var text: String { "\(extent) \(passed ? "passed" : "FAILED") \(at)" }
}
