import ArgumentParser
import Control
import FoundationEssentials
import Prompting

struct Enrollments: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "enrollments", abstract: "List the enrollments.")

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await common.read { client, output throws(ClientError) in
            let enrollments = try await client.enrollments()
            // Programs do not need it. Without push subscriptions, the call would be of no use.
            let clock = output.json || enrollments.allSatisfy { $0.push == nil } ? nil : try await client.clock()
            try output.data(enrollments) { Self.tables($0, clock) }
            return .done
        }
    }

    /// The table of the enrollments, and that of the push subscriptions.
    ///
    /// Empty if there are none.
    ///
    /// - Parameter clock: the agent's test clock. `nil` for the machine's clock.
    static func tables(_ enrollments: [EnrollmentView], _ clock: ClockView?) -> [ScreenLine] {
        let now = Int64(Date().timeIntervalSince1970) + Int64(clock?.offsetSeconds ?? 0)
        return .blocks([table(enrollments), pushTable(enrollments, now: now)])
    }

    private static func table(_ enrollments: [EnrollmentView]) -> [ScreenLine] {
        let rows = enrollments.map {
            [
                $0.id, $0.issuer, $0.name, $0.authnType, $0.state.rawValue, String($0.signCount), $0.enrolledAt ?? "",
                $0.key.text, $0.testText,
            ]
        }
        let heading: [Table.Column] = [
            .init("ID", .id), .init("ISSUER", .text), .init("NAME", .name), .init("AUTHN TYPE", .text), .init("STATE"),
            .init("SIGN COUNT", .text), .init("ENROLLED", .text), .init("KEY", .text), .init("KEY TESTED", .text),
        ]
        return Table(heading: heading, rows: rows).lines(Output.columns, isUTF8: Output.isUTF8)
    }

    private static func pushTable(_ enrollments: [EnrollmentView], now: Int64) -> [ScreenLine] {
        let rows = enrollments.compactMap { card in card.push.map { [card.id] + $0.cells(now: now) } }
        let heading = [Table.Column("PUSH TO", .id)] + PushView.heading.map { Table.Column($0, .text) }
        return Table(heading: heading, rows: rows).lines(Output.columns, isUTF8: Output.isUTF8)
    }

    /// The storage, place and last test of each key, empty without keys.
    static func keyTable(_ enrollments: [EnrollmentView]) -> [ScreenLine] {
        let rows = enrollments.map { [$0.id, $0.key.text, $0.testText, $0.keyUri] }
        let heading: [Table.Column] = [
            .init("ENROLLMENT", .id), .init("KEY", .text), .init("KEY TESTED", .text), .init("KEY URI", .text),
        ]
        return Table(heading: heading, rows: rows).lines(Output.columns, isUTF8: Output.isUTF8)
    }
}

extension EnrollmentView {
    fileprivate var testText: String { keyTest?.text ?? "not yet" }
}

extension KeyView {
    /// The storage of the key, and whether the key can be exported.
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
