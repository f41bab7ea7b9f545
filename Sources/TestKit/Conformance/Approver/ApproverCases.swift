import StrictJSON

/// The conformance cases for an approver.
package struct ApproverCases: Sendable {
    private struct StepCase: Sendable {
        let header: CaseHeader
        let steps: [ApproverStep]
    }

    private let requests: [RequestCase]
    private let cases: [StepCase]

    /// Reads all cases of a directory, and throws the first error.
    package init(in directory: CaseDirectory) throws(CaseFileError) {
        requests = try RequestCase.all(in: directory)
        var cases: [StepCase] = []
        for file in try directory.files(of: "approver/steps") {
            let header = try CaseHeader(
                file.node, name: file.name, others: ["steps"], commands: TestedApprover.commands)
            var steps: [ApproverStep] = []
            for step in try file.node.members()["steps"]?.elements() ?? [] { steps.append(try ApproverStep(step)) }
            guard !steps.isEmpty else { throw file.node.error("steps is missing") }
            cases.append(StepCase(header: header, steps: steps))
        }
        self.cases = cases
        let names = Set(requests.map(\.header.name))
        if let twice = cases.first(where: { names.contains($0.header.name) }) {
            throw CaseFileError("\(directory.path)/approver: two cases have the name \(twice.header.name)")
        }
    }

    package var headers: [CaseHeader] { requests.map(\.header) + cases.map(\.header) }

    /// Returns the cases with steps, each with an issuer of its own.
    private func playableSteps(
        against approver: TestedApprover, wire: Wire, where choice: (CaseHeader) -> Bool
    ) -> [PlayableCase] {
        cases.filter { choice($0.header) }.map { one in
            PlayableCase(header: one.header, runsAlone: one.header.needs.contains("restart")) { trace in
                for need in one.header.needs where !approver.has(need) {
                    throw CaseEnd.notShown("there is no command for `\(need)`")
                }
                try await ScriptedSandboxServer.with(wire.secrets) { issuer in
                    var scene = ApproverScene(
                        one.header, approver: approver, issuer: issuer, wire: wire, trace: trace)
                    for step in one.steps { try await scene.play(step) }
                }
            }
        }
    }

    /// Plays the request cases that `choice` selects, many with one enrollment, and returns all selected cases.
    ///
    /// A request case that is returned only reports its outcome.
    ///
    /// - Parameter limit: the limit of the run; request cases after it are not run.
    package func playable(
        against approver: TestedApprover, wire: Wire, limit: RunLimit, where choice: (CaseHeader) -> Bool
    ) async throws -> [PlayableCase] {
        let chosen = requests.filter { choice($0.header) }
        var outcomes: [String: RequestBatch.Outcome] = [:]
        for start in stride(from: 0, to: chosen.count, by: RequestBatch.size) {
            let cases = Array(chosen[start..<min(start + RequestBatch.size, chosen.count)])
            guard !limit.isOver else { break }
            let batch = RequestBatch(cases: cases, approver: approver, wire: wire, limit: limit)
            outcomes.merge(try await batch.outcomes()) { $1 }
        }
        return playableSteps(against: approver, wire: wire, where: choice)
            + chosen.map { one in
                let outcome = outcomes[one.header.name]
                return PlayableCase(header: one.header, runsAlone: false) { trace in
                    guard let outcome else { throw CaseEnd.notRun(limit.sentence) }
                    trace.replace(outcome.exchanges)
                    if let end = outcome.end { throw end }
                }
            }
    }
}
