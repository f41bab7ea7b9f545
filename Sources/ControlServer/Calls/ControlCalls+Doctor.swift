import Authenticator
import Control
import ThreeDS

extension ControlCalls {
    /// What is weak, and what cannot be told.
    func doctor() async throws -> Answer {
        try .json(await agent.checkup.findings().map(WarningView.init))
    }

    /// What is weak, for `status`.
    var weaknesses: [WarningView] {
        get async { await agent.checkup.findings().filter(\.isCertain).map(WarningView.init) }
    }
}

extension WarningView {
    init(_ finding: Finding) {
        self.init(
            id: finding.weakness.rawValue, message: finding.message, severity: finding.severity.rawValue,
            enrollment: finding.enrollment?.text, others: finding.others, cannotTell: finding.isCertain ? nil : true)
    }
}
