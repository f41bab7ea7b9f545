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
            // Of no use to programs, and an agent without pushes need not be asked.
            let clock = output.json || enrollments.allSatisfy { $0.push == nil } ? nil : try await client.clock()
            try output.data(enrollments) { Self.tables($0, clock) }
            return .done
        }
    }

    /// The enrollments, and how those come by their messages that are pushed to; empty if there is none.
    ///
    /// - Parameter clock: the agent's; nil: the machine's.
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

    /// What keeps each key, where, and how it was last looked at; empty if there is none.
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
