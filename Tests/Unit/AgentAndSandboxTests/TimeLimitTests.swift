import Foundation
import Testing

@testable import Authenticator
@testable import Conformance
@testable import Control
@testable import ControlServer
@testable import ExternalKeyCustody
@testable import Inbox
@testable import IssuerLink

/// Whoever waits for something that has a time limit of its own waits longer than that.
struct TimeLimitTests {
    private static let limits: [String: Double] = [
        "ControlTimeout.decide": Double(ControlTimeout.decide(DecideCommand())),
        "DecideCommand.decisionSeconds": Double(DecideCommand.decisionSeconds),
        "DecideCommand.defaultDeliveryTimeout": Double(DecideCommand.defaultDeliveryTimeout),
        "DecisionLimit.standardSeconds": DecisionLimit.standardSeconds,
        "TokenQueue.patience": TokenQueue.patience,
        "SignCountWatch.patience": SignCountWatch.patience,
        "ControlTimeout.fetch": Double(ControlTimeout.fetch),
        "ControlTimeout.fetchOfAll": Double(ControlTimeout.fetchOfAll),
        "Fetcher.patience": Fetcher.patience,
        "IssuerCall.standardSeconds": IssuerCall.standardSeconds,
        "FetchLoop.longestWait": Double(FetchLoop.longestWait),
        "ControlTimeout.enroll": Double(ControlTimeout.enroll),
        "RegistrationDelivery.longest": Double(RegistrationDelivery.longest),
        "ControlTimeout.backup": Double(ControlTimeout.backup), "BackupTurns.patience": Double(BackupTurns.patience),
        "ControlTimeout.pinChange": Double(ControlTimeout.pinChange), "PINChange.patience": PINChange.patience,
        "InboxServer.seconds": Double(InboxServer.seconds),
        "InboxServer.decisionSeconds": Double(InboxServer.decisionSeconds),
        "InboxServer.pageSeconds": Double(InboxServer.pageSeconds),
        "TestedCommand.limit": TestedCommand.limit / .seconds(1),
        "ApproverScene.decisionLimit": ApproverScene.decisionLimit / .seconds(1),
        "CaseRun.limit": CaseRun.limit / .seconds(1),
    ]

    /// Who waits, for what.
    private static let pairs = [
        ("ControlTimeout.decide", "DecideCommand.decisionSeconds"),
        ("DecideCommand.decisionSeconds", "TokenQueue.patience"),
        ("DecisionLimit.standardSeconds", "TokenQueue.patience"), ("TokenQueue.patience", "SignCountWatch.patience"),
        ("ControlTimeout.fetch", "Fetcher.patience"), ("Fetcher.patience", "IssuerCall.standardSeconds"),
        ("ControlTimeout.enroll", "RegistrationDelivery.longest"),
        ("ControlTimeout.pinChange", "PINChange.patience"), ("ControlTimeout.backup", "BackupTurns.patience"),
        ("InboxServer.decisionSeconds", "DecideCommand.decisionSeconds"),
        ("InboxServer.pageSeconds", "ControlTimeout.fetch"), ("TestedCommand.limit", "ControlTimeout.decide"),
        ("ApproverScene.decisionLimit", "ControlTimeout.decide"), ("CaseRun.limit", "TestedCommand.limit"),
        ("CaseRun.limit", "ApproverScene.decisionLimit"),
    ]

    @Test(arguments: pairs) func `whoever waits does so for longer than what is waited for may take`(
        waits: String, for what: String
    ) throws {
        #expect(try #require(Self.limits[waits]) > #require(Self.limits[what]))
    }

    @Test func `a client waits for a fetch of all for longer than that of ten million may take`() {
        let most = Double(10_000_000 / Fetcher.enrollmentsInSecond)
        #expect(Double(ControlTimeout.fetchOfAll) > Fetcher.patience + most + Double(ControlTimeout.margin))
    }

    @Test func `the inbox waits for a decision as long as the agent may take, and for the issuer's answer to it`() {
        let delivery = InboxServer.decideCommand.deliveryTimeout ?? DecideCommand.defaultDeliveryTimeout
        #expect(InboxServer.decisionSeconds > DecideCommand.decisionSeconds + delivery)
    }

    @Test(arguments: [nil, 0, 60, 3_600] as [Int?], [nil, 0, 600] as [Int?])
    func `a client waits for the wait, the decision, the delivery and a margin`(wait: Int?, delivery: Int?) {
        var command = DecideCommand()
        command.wait = wait
        command.deliveryTimeout = delivery
        let parts = (wait ?? 0) + DecideCommand.decisionSeconds + (delivery ?? DecideCommand.defaultDeliveryTimeout)
        #expect(ControlTimeout.decide(command) == parts + ControlTimeout.margin)
        // It connects within 5 s.
        #expect(ControlTimeout.margin > 5)
    }

    /// The rows of the table in docs/reference/limits.md: a limit's name, and its seconds.
    @Test func `the table of the time limits says what they are`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
        let page = try String(contentsOf: root.appending(path: "docs/reference/limits.md"), encoding: .utf8)
        let section = try #require(page.split(separator: "\n## ").first { $0.hasPrefix("Time limits\n") })
        var told: [String: Double] = [:]
        for line in section.split(separator: "\n") where line.hasPrefix("| ") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 4, cells[3].hasPrefix("`"), let seconds = Double(cells[2].dropLast(2)) else {
                continue
            }
            told[cells[3].replacing("`", with: "")] = seconds
        }
        #expect(told == Self.limits)
    }
}
