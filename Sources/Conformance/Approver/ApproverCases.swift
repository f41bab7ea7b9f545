import StrictJSON

/// The cases that an approver is judged by.
package struct ApproverCases: Sendable {
    private let requests: [RequestCase]

    /// Reads all of a directory; the first error ends it.
    package init(in directory: CaseDirectory) throws(CaseFileError) {
        requests = try RequestCase.all(in: directory)
    }

    package var headers: [CaseHeader] { requests.map(\.header) }

    /// Plays the request cases that `choice` takes, many with one enrollment, and says of each what came of it.
    ///
    /// - Parameter seed: orders them.
    package func playable(
        against approver: TestedApprover, wire: Wire, where choice: (CaseHeader) -> Bool
    ) async throws -> [PlayableCase] {
        let chosen = requests.filter { choice($0.header) }
        var outcomes: [String: (end: CaseEnd?, trace: Trace)] = [:]
        for start in stride(from: 0, to: chosen.count, by: RequestBatch.size) {
            let cases = Array(chosen[start..<min(start + RequestBatch.size, chosen.count)])
            outcomes.merge(try await RequestBatch(cases: cases, approver: approver, wire: wire).outcomes()) { $1 }
        }
        return chosen.map { one in
            let outcome = outcomes[one.header.name]
            return PlayableCase(header: one.header, runsAlone: false) { trace in
                for exchange in outcome?.trace.exchanges ?? [] { trace.add(exchange) }
                guard let outcome else { throw CaseEnd.broken("the kit did not play it") }
                if let end = outcome.end { throw end }
            }
        }
    }
}
